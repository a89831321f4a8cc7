"""From attach to close: what ends a recording, and what happens to the trainer then."""

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import probes
from bisect_debugger.errors import UsageError
from bisect_debugger.format.groups import Group
from probes.recorder import Recorder
from tests.unit.recorded import backward, digest_of, read, record


def traces(model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> list[object]:
    """Everything on a model, an optimizer and torch that a recording could leave behind."""
    module = torch.nn.modules.module
    found: list[object] = [module._global_forward_pre_hooks, module._global_forward_hooks]
    for part in model.modules():
        found += [part._forward_hooks, part._forward_pre_hooks, part._forward_pre_hooks_with_kwargs]
    found += [parameter._backward_hooks for parameter in model.parameters()]
    if optimizer is not None:
        found += [value for name, value in vars(optimizer).items() if name.endswith("_hooks")]
    return [table for table in found if table]


def functions() -> list[object]:
    return [
        torch.nn.Module._call_impl,
        torch.autograd.backward,
        torch.autograd.grad,
        torch.manual_seed,
        random.seed,
        np.random.seed,
        np.random.default_rng,
    ]


class Sampler:
    """A replay buffer of sorts."""

    def __init__(self) -> None:
        self.calls = 0

    def sample(self, size: int) -> dict[str, Any]:
        """Draw indices."""
        self.calls += 1
        return {"indices": np.arange(size), "weights": torch.ones(size)}


def small() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    backward(model(torch.ones(1, 2)).square().sum())
    optimizer.step()


def test_nothing_is_left_after_a_normal_end(tmp_path: Path) -> None:
    model, optimizer = small()
    sampler, before = Sampler(), functions()
    with probes.attach(model, optimizer, out=tmp_path / "a.h5") as recording:
        recording.watch(sampler, "sample")
        assert traces(model, optimizer)
        step(model, optimizer)
    assert traces(model, optimizer) == []
    assert functions() == before
    assert "sample" not in vars(sampler)
    assert (read(tmp_path / "a.h5").facts.complete, recording.recorder.closed) == (True, True)


def test_nothing_is_left_after_an_exception_and_the_run_says_so(tmp_path: Path) -> None:
    model, optimizer = small()
    before = functions()

    def fails(recording: probes.Recording) -> None:
        recording.watch(Sampler(), "sample")
        step(model, optimizer)
        model(torch.ones(1, 2))
        raise ValueError("loss is \x1b[31mNaN")

    with (
        pytest.raises(ValueError, match="NaN"),
        probes.attach(model, optimizer, out=tmp_path / "a.h5") as recording,
    ):
        fails(recording)
    assert traces(model, optimizer) == []
    assert functions() == before
    run = read(tmp_path / "a.h5")
    assert not run.facts.complete
    assert run.facts.end_reason == "the trainer raised ValueError: loss is \\x1b[31mNaN"
    # What was seen until then is there, the unfinished step included.
    assert run.steps == (-1, 0, 1)
    assert "model.out" in run.names(Group.FORWARD, 1)


def test_an_interrupt_goes_through(tmp_path: Path) -> None:
    model, optimizer = small()
    with pytest.raises(KeyboardInterrupt), probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        raise KeyboardInterrupt
    assert traces(model, optimizer) == []
    assert read(tmp_path / "a.h5").facts.end_reason == "the trainer raised KeyboardInterrupt: "


def test_an_interrupt_inside_a_hook_goes_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizer = small()

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        monkeypatch.setattr(Recorder, "see", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model(torch.ones(1, 2))
    assert traces(model, optimizer) == []


def test_a_failure_of_ours_stops_the_recording_and_not_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    model, optimizer = small()
    twin, twin_optimizer = copy.deepcopy((model, optimizer))

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug of the recorder")

    with probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        step(model, optimizer)
        with monkeypatch.context() as patch:
            patch.setattr(Recorder, "see", broken)
            step(model, optimizer)
        step(model, optimizer)
        # The first module that is called after the failure has found everything and removed it.
        assert traces(model, optimizer) == []
    for _ in range(3):
        step(twin, twin_optimizer)
    for mine, other in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(mine, other)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(
        "bisect-debugger: recording stopped (RuntimeError: a bug of the recorder); the training "
        "goes on unchanged"
    )
    run = read(tmp_path / "a.h5")
    assert run.facts.end_reason == "RuntimeError: a bug of the recorder"
    assert run.steps == (-1, 0)


@pytest.mark.parametrize("method", ["boundary", "register"])
def test_a_failure_in_any_hook_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    model, optimizer = small()

    def broken(*_: Any, **__: Any) -> None:
        raise MemoryError("none left")

    recording = probes.attach(model, optimizer, out=tmp_path / "a.h5")
    monkeypatch.setattr(type(recording._streams), method, broken)
    if method == "boundary":
        step(model, optimizer)
        recording.close()
        assert read(tmp_path / "a.h5").facts.end_reason == "MemoryError: none left"
    else:
        # What a user calls tells the user.
        with pytest.raises(MemoryError):
            recording.register_generator("mine", random.Random(1))
        recording.close()


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    model, optimizer = small()
    recording = probes.attach(model, optimizer, out=tmp_path / "a.h5")
    recording.close()
    recording.close("too late")
    assert read(recording.path).facts.complete
    step(model, optimizer)
    recording.record("late", 1.0)
    sampler = Sampler()
    recording.watch(sampler, "sample")
    assert "sample" not in vars(sampler)
    assert read(recording.path).steps == (-1,)


def test_two_recordings_at_once_see_the_same(tmp_path: Path) -> None:
    model, optimizer = small()
    with (
        probes.attach(model, optimizer, out=tmp_path / "a.h5"),
        probes.attach(model, optimizer, out=tmp_path / "b.h5"),
    ):
        step(model, optimizer)
        probes.record("inner", 1.0)
    first, second = read(tmp_path / "a.h5"), read(tmp_path / "b.h5")
    assert [(e.name, e.digest, e.flags) for e in second.events if e.step < 1] == [
        (e.name, e.digest, e.flags) for e in first.events
    ]
    assert first.edges == second.edges
    assert second.names(Group.USER) == ["inner"]


def test_without_a_recording_nothing_is_done_and_nothing_changed() -> None:
    sampler = Sampler()
    before = dict(vars(sampler))
    probes.record("x", 1.0)
    probes.watch(sampler, "sample")
    assert vars(sampler) == before


def test_record_by_hand(tmp_path: Path) -> None:
    model, optimizer = small()

    def train(recording: probes.Recording) -> None:
        recording.record("labels", torch.tensor([1, 2]))
        recording.record("pair", {"a": 1.5, "b": ["text"]}, "outcome_head")
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.USER) == ["labels", "pair.a", "pair.b[0]"]
    assert run.digests("labels") == [digest_of(torch.tensor([1, 2]))]
    labels, pair = run.buffer("labels"), run.buffer("pair.b[0]")
    assert (labels.component, labels.role) == ("labels", "value")
    assert (pair.component, pair.role) == ("outcome_head", "value.b[0]")
    # The generators are read before the first thing of a step.
    assert run.events[len(run.of(Group.PARAM, -1)) + 3].name == "rng.torch_cpu@start"


def test_watch_records_what_a_method_returns(tmp_path: Path) -> None:
    model, optimizer = small()
    sampler = Sampler()

    def train(recording: probes.Recording) -> None:
        recording.watch(sampler, "sample", name="per")
        batch = sampler.sample(3)
        assert batch["indices"].tolist() == [0, 1, 2]
        assert sampler.sample.__doc__ == "Draw indices."
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.REPLAY, 0) == [
        "replay.per.sample.indices",
        "replay.per.sample.weights",
    ]
    about = run.buffer("replay.per.sample.indices")
    assert (about.component, about.role) == ("replay.per", "sample.indices")
    assert about.kind.endswith("Sampler")
    assert run.digests("replay.per.sample.indices") == [digest_of(np.arange(3))]
    assert sampler.calls == 1


def test_a_watched_object_can_be_copied_and_saved(tmp_path: Path) -> None:
    model, optimizer = small()
    sampler = Sampler()

    def train(recording: probes.Recording) -> None:
        recording.watch(sampler, "sample")
        for other in (copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))):
            other.sample(2)
            other.sample(2)
            assert (other.calls, sampler.calls) == (2, 0)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.REPLAY) == []


def test_a_model_can_be_copied_and_saved(tmp_path: Path) -> None:
    model, optimizer = small()

    def train(_: Any) -> None:
        step(model, optimizer)
        other = copy.deepcopy(model)
        torch.save(model, tmp_path / "model.pt")
        loaded = torch.load(tmp_path / "model.pt", weights_only=False)
        torch.save(model(torch.ones(1, 2)), tmp_path / "out.pt")
        other(torch.ones(1, 2))
        loaded(torch.ones(1, 2))
        assert traces(loaded)[2:] == traces(other)[2:] == []

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.FORWARD, 1).count("model.out") == 1


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    class Rigid:
        __slots__ = ()

        def sample(self) -> int:
            return 1

    model, optimizer = small()
    with probes.attach(model, optimizer, out=tmp_path / "a.h5") as recording:
        for target, method, message in (
            (Sampler(), "draw", "Sampler has no method 'draw'"),
            (Sampler(), "calls", "Sampler has no method 'calls'"),
            (Sampler(), "__init__", "Sampler has no method '__init__'"),
            (Rigid(), "sample", "Rigid lets no attribute be set"),
        ):
            with pytest.raises(UsageError, match=message):
                recording.watch(target, method)


def test_a_failed_attach_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer = small()
    before = functions()

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no hooks here")

    monkeypatch.setattr(torch.optim.Optimizer, "register_step_post_hook", broken)
    with pytest.raises(RuntimeError, match="no hooks here"):
        probes.attach(model, optimizer, out=tmp_path / "a.h5")
    assert traces(model, optimizer) == []
    assert functions() == before
    assert list(tmp_path.iterdir()) == []


def test_a_probe_that_cannot_be_taken_away_keeps_no_other_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stuck:
        def remove(self) -> None:
            raise RuntimeError("stuck")

    model, optimizer = small()
    recording = probes.attach(model, optimizer, out=tmp_path / "a.h5")
    recording.add_probe(Stuck())
    step(model, optimizer)
    recording.close()
    assert traces(model, optimizer) == []
    assert capsys.readouterr().err.startswith("bisect-debugger: recording stopped (RuntimeError")
    assert read(tmp_path / "a.h5").facts.end_reason == "RuntimeError: stuck"


def test_an_error_that_refuses_to_be_shown_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not for show")

    def broken(*_: Any, **__: Any) -> None:
        raise Mute

    model, optimizer = small()
    with probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        monkeypatch.setattr(Recorder, "see", broken)
        step(model, optimizer)
    assert read(tmp_path / "a.h5").facts.end_reason == "Mute: it does not say why"
