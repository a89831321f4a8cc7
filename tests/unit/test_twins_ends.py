"""Where recordings begin, end and select otherwise: what is compared, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.diagnosis import Verdict, diagnose
from bisect_debugger.errors import NotComparable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import END_INCOMPLETE
from probes.writer import Header
from tests.handmade import Made, batch, loss, out, weight, write_made
from tests.unit.recorded import backward


def step(number: int, *extra: Made) -> list[Made]:
    return [batch(10 + number), out("net.a", 20 + number), loss(30 + number), *extra]


def sampled_in(where: int) -> list[list[Made]]:
    sample = Made(Group.REPLAY, "replay.buffer.sample", 99, "replay.buffer", "sample")
    return [[weight("net.a", 1)]] + [step(k, *[sample] * (k == where)) for k in range(5)]


def test_the_same_sample_in_another_step_is_no_bit_equal_run(tmp_path: Path) -> None:
    a = write_made(tmp_path / "a.h5", sampled_in(1))
    b = write_made(tmp_path / "b.h5", sampled_in(3))
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.onset is not None
    assert (found.onset.step, found.onset.group) == (1, Group.REPLAY)
    assert [origin.component for origin in found.origins] == ["replay.buffer"]


def test_groups_in_another_order_are_no_bit_equal_run(tmp_path: Path) -> None:
    plain = [[weight("net.a", 1)], step(0), step(1)]
    turned = [[weight("net.a", 1)], step(0), step(1)[::-1]]
    a, b = write_made(tmp_path / "a.h5", plain), write_made(tmp_path / "b.h5", turned)
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.onset is not None
    assert found.onset.step == 1
    assert [origin.cause.value for origin in found.origins] == ["control-flow"]


def test_groups_in_another_order_are_told_at_level_coarse_too(tmp_path: Path) -> None:
    plain = [[weight("net.a", 1)], step(0), step(1)]
    turned = [[weight("net.a", 1)], step(0), step(1)[::-1]]
    coarse = Header(level="coarse")
    a = write_made(tmp_path / "a.h5", plain, header=coarse)
    b = write_made(tmp_path / "b.h5", turned, header=coarse)
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.sentence == "Diverged. A step holds the same contents in another order."


def run_of(path: Path, count: int, **fields: Any) -> Path:
    return write_made(path, [[weight("net.a", 1)], *(step(k) for k in range(count))], **fields)


RAISED = {"end": END_INCOMPLETE, "reason": "the trainer raised FloatingPointError: nan"}
KILLED = {"end": "killed"}


@pytest.mark.parametrize(
    ("count", "ending", "expected"),
    [
        (3, RAISED, Verdict.INCONCLUSIVE),
        (3, KILLED, Verdict.INCONCLUSIVE),
        (5, RAISED, Verdict.BIT_EQUAL),
        (7, RAISED, Verdict.DIVERGED),
        (3, {}, Verdict.DIVERGED),
    ],
)
def test_a_run_that_ends_early_is_not_called_equal(
    tmp_path: Path, count: int, ending: dict[str, str], expected: Verdict
) -> None:
    a = run_of(tmp_path / "a.h5", 5)
    b = run_of(tmp_path / "b.h5", count, **ending)
    assert diagnose([a, b]).verdict is expected
    assert diagnose([b, a]).verdict is expected


def test_runs_that_somebody_killed_are_equal_as_far_as_both_go(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a.h5", 5, **KILLED), run_of(tmp_path / "b.h5", 3, **KILLED)
    assert diagnose([a, b]).verdict is Verdict.BIT_EQUAL


def test_the_sentence_of_an_early_end_says_what_is_not_known(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a.h5", 5), run_of(tmp_path / "b.h5", 3, **RAISED)
    found = diagnose([a, b])
    assert found.exit_code == 3
    assert found.sentence == (
        "Inconclusive: everything that both runs recorded from init to step 2 is equal, and then "
        "one of them ended early; what it would have done is not known."
    )


def stopped_in_step_1(path: Path, events: list[Made]) -> Path:
    return write_made(path, [[weight("net.a", 1)], step(0), events], open_last=True, **RAISED)  # type: ignore[arg-type]


def test_what_a_run_had_not_done_when_it_died_is_no_difference(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2)
    found = diagnose([a, stopped_in_step_1(tmp_path / "b.h5", step(1)[:2])])
    assert (found.verdict, found.origins, found.onset) == (Verdict.INCONCLUSIVE, (), None)


def test_what_differs_before_a_run_died_is_found(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2)
    b = stopped_in_step_1(tmp_path / "b.h5", [step(1)[0], out("net.a", 500)])
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert [origin.buffer for origin in found.origins] == ["net.a.out"]


def trained(path: Path, **options: Any) -> Path:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with probes.attach(model, optimizer, out=path, **options):
        for number in range(5):
            optimizer.zero_grad()
            batch = torch.full((2, 4), float(number + options.get("late", 0)))
            backward(model(batch).square().sum())
            optimizer.step()
    return path


def test_equal_runs_over_other_windows_are_equal(tmp_path: Path) -> None:
    a, b = trained(tmp_path / "a.h5"), trained(tmp_path / "b.h5", steps="2:4")
    c = trained(tmp_path / "c.h5", steps="3:")
    assert diagnose([a, b, c]).verdict is Verdict.BIT_EQUAL


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ({}, {"exclude": ["*bias*"]}, "selection (exclude: [] against"),
        ({}, {"include": ["model.*"]}, "selection (include: [] against"),
        ({}, {"groups": ["param"]}, "selection (groups: rng,"),
        ({"level": "coarse"}, {}, "level coarse and level digest"),
        ({"level": "coarse"}, {"level": "coarse", "steps": "2:"}, "over other steps"),
    ],
)
def test_recordings_made_otherwise_are_refused(
    tmp_path: Path, left: dict[str, Any], right: dict[str, Any], words: str
) -> None:
    a, b = trained(tmp_path / "a.h5", **left), trained(tmp_path / "b.h5", **right)
    with pytest.raises(NotComparable, match="record both") as refused:
        diagnose([a, b])
    assert words in str(refused.value)


def test_heads_alone_select_nothing(tmp_path: Path) -> None:
    a, b = trained(tmp_path / "a.h5"), trained(tmp_path / "b.h5", heads=["1"])
    assert diagnose([a, b]).verdict is Verdict.BIT_EQUAL


def test_ranks_are_not_taken_for_twins(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2, header=Header(level="full", rank=0, world_size=2))
    b = run_of(tmp_path / "b.h5", 2, header=Header(level="full", rank=1, world_size=2))
    with pytest.raises(NotComparable, match="rank 0 and rank 1"):
        diagnose([a, b])
