"""What a recording takes: levels, windows, groups, globs, heads; and how nonsense is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.errors import UsageError
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import open_run
from bisect_debugger.twins import open_pair
from tests.unit.recorded import Recorded, backward, read, record


def small() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def record_steps(path: Path, count: int = 2, **options: Any) -> Recorded:
    torch.manual_seed(0)
    model, optimizer = small()
    with probes.attach(model, optimizer, out=path, **options):
        for _ in range(count):
            optimizer.zero_grad()
            backward(model(torch.ones(3, 2)).square().mean())
            optimizer.step()
    return read(path)


def test_a_window_records_its_steps_and_init(tmp_path: Path) -> None:
    run = record_steps(tmp_path / "a.h5", 6, steps="2:4")
    assert run.steps == (-1, 2, 3)
    assert run.facts.window == "2:4"
    assert record_steps(tmp_path / "b.h5", 3, steps="2:").steps == (-1, 2)
    assert record_steps(tmp_path / "c.h5", 3, steps=":1").steps == (-1, 0)


def test_events_of_a_window_are_those_of_the_whole(tmp_path: Path) -> None:
    whole = record_steps(tmp_path / "a.h5", 4)
    part = record_steps(tmp_path / "b.h5", 4, steps="3:4")
    for group in (Group.FORWARD, Group.GRAD, Group.OPTIM, Group.LOSS):
        assert [(seen.name, seen.digest) for seen in part.of(group, 3)] == [
            (seen.name, seen.digest) for seen in whole.of(group, 3)
        ]


def test_groups(tmp_path: Path) -> None:
    run = record_steps(tmp_path / "a.h5", groups=["loss", "grad"])
    assert {seen.buffer.group for seen in run.events} == {Group.LOSS, Group.GRAD}
    run = record_steps(tmp_path / "b.h5", groups="loss")
    assert {buffer.name for buffer in run.buffers} == {"loss"}


def test_globs_and_heads(tmp_path: Path) -> None:
    run = record_steps(tmp_path / "a.h5", include=["model.0.*"], exclude="*.grad*")
    names = {seen.name for seen in run.events}
    assert names == {"model.0.weight", "model.0.bias", "model.0.in[0]", "model.0.out"}
    run = record_steps(tmp_path / "b.h5", include=["loss"], heads=["1"])
    assert {seen.name for seen in run.events if seen.buffer.group is Group.FORWARD} == {
        "model.1.in[0]",
        "model.1.out",
    }
    assert "loss" in {seen.name for seen in run.events}


def test_levels(tmp_path: Path) -> None:
    digests = {}
    for level in ("coarse", "digest", "stats", "full"):
        record_steps(tmp_path / f"{level}.h5", level=level)
        with open_run(tmp_path / f"{level}.h5") as run:
            digests[level] = run.running_digest(run.step_count - 1)
            events = run.event_count
            assert run.facts.level == level
            if level == "coarse":
                assert events == 0
                continue
            block = run.events(1)
            out = [run.buffers[i].name for i in block.buffer.tolist()].index("model.out")
            layout = run.layouts[int(block.layout[out])]
            stored = run.payload(block.digest[out], layout)
            if level == "full":
                assert stored is not None
                assert stored.shape == (3, 1)
            else:
                assert stored is None
    # How much is kept does not change what a step's digest says.
    assert len(set(digests.values())) == 1


@pytest.mark.parametrize("number", [0, 1])
def test_a_coarse_run_differs_in_the_step_before_which_somebody_wrote(
    tmp_path: Path, number: int
) -> None:
    """Of a parameter that no optimizer steps, and of one that is stepped."""
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path in paths:
        torch.manual_seed(0)
        layers = (nn.Linear(2, 2).requires_grad_(False), nn.Linear(2, 1))
        model = nn.Sequential(*layers)
        optimizer = torch.optim.SGD(layers[1].parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path, level="coarse"):
            for step in range(4):
                if step == 2 and path == paths[1]:
                    layers[number].weight.data[0, 0] += 1
                optimizer.zero_grad()
                backward(model(torch.ones(3, 2)).square().mean())
                optimizer.step()
    with open_pair(*paths) as pair:
        row = pair.first_different_row()
        assert row is not None
        assert pair.a.step_number(row) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "everything"}, "There is no level 'everything'; use one of coarse, digest, "),
        ({"steps": "5"}, "'5' is not a window of steps; write A:B with 0 <= A < B"),
        ({"steps": "4:4"}, "'4:4' is not a window of steps"),
        ({"steps": "-1:4"}, "'-1:4' is not a window of steps"),
        ({"steps": "a:b"}, "'a:b' is not a window of steps"),
        ({"groups": ["loss", "gradient"]}, "There is no group 'gradient'; the groups are rng, "),
        ({"heads": ["q_head"]}, "No module is called 'q_head'; heads are named by their path, "),
    ],
)
def test_nonsense_is_refused_in_a_sentence(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    model, optimizer = small()
    with pytest.raises(UsageError) as refused:
        probes.attach(model, optimizer, out=tmp_path / "a.h5", **options)
    assert str(refused.value).startswith(message)
    assert str(refused.value).endswith(".")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_model_or_optimizer_is_refused(tmp_path: Path) -> None:
    model, optimizer = small()
    path = tmp_path / "a.h5"
    anything: Any = object()
    with pytest.raises(UsageError, match="object as 'model', which is not a torch"):
        probes.attach(anything, optimizer, out=path)
    with pytest.raises(UsageError, match="str as 'b', which is not a torch"):
        probes.attach({"a": model, "b": "b"}, optimizer, out=path)  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="given no model"):
        probes.attach({}, optimizer, out=path)
    with pytest.raises(UsageError, match="object as 'optimizer', which is not a torch"):
        probes.attach(model, anything, out=path)
    with pytest.raises(UsageError, match=r"Sequential as 'optimizer\[1\]'"):
        probes.attach(model, [optimizer, model], out=path)  # type: ignore[list-item]
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    model, optimizer = small()
    path = tmp_path / "a.h5"
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        probes.attach(model, optimizer, out=path)
    assert path.read_bytes() == b"mine"


def test_a_wrapper_around_an_optimizer_is_refused(tmp_path: Path) -> None:
    class Wrapper(torch.optim.Optimizer):
        def __init__(self, inner: torch.optim.Optimizer) -> None:
            self.inner = inner

    model, optimizer = small()
    with pytest.raises(UsageError, match="optimizer, a Wrapper, takes no hooks"):
        probes.attach(model, Wrapper(optimizer), out=tmp_path / "a.h5")
    assert list(tmp_path.iterdir()) == []


def test_the_whole_selection_stands_in_the_file(tmp_path: Path) -> None:
    run = record(
        tmp_path / "a.h5",
        nn.Sequential(nn.Linear(2, 2)),
        None,
        lambda _: None,
        steps="0:7",
        groups=["forward", "param"],
        include="model.*",
        exclude=["*.bias", "*.in[[]0]"],
        heads=["0"],
    )
    assert run.facts.window == "0:7"
    assert run.facts.selection == {
        "selected_groups": "param,forward",
        "include": '["model.*"]',
        "exclude": '["*.bias", "*.in[[]0]"]',
        "heads": '["model.0"]',
        "payload_window": "",
    }


def test_a_window_of_all_steps_is_no_window(tmp_path: Path) -> None:
    run = record(tmp_path / "a.h5", nn.Linear(2, 2), None, lambda _: None, steps="0:")
    assert run.facts.window == ""
