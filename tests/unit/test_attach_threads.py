"""Threads beside the training: when they do their work is chance, and no difference."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import probes
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import open_run
from tests.unit.recorded import backward, read, record
from tests.verification import verify


class Replay:
    """A replay buffer whose samples follow from how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def sample(self) -> torch.Tensor:
        self.calls += 1
        rows = np.random.default_rng(self.calls).standard_normal((4, 2))
        return torch.from_numpy(rows.astype(np.float32))


def in_thread(work: Callable[[], object], name: str | None = None) -> None:
    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()


def small() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def running(path: Path) -> list[bytes]:
    """The running digest after each step; the file is proven on the way."""
    with open_run(path) as run:
        verify(run)
        return [run.running_digest(row) for row in range(run.step_count)]


def prefetched(path: Path, late: Sequence[int]) -> list[bytes]:
    """Train on samples that another thread fetches, in some steps only after the step."""
    model, optimizer = small()
    replay = Replay()

    def train(recording: probes.Recording) -> None:
        recording.watch(replay, "sample")
        box = [replay.sample()]
        for step in range(4):
            batch = box.pop()
            if step not in late:
                in_thread(lambda: box.append(replay.sample()))
            backward(model["a"](batch).square().mean())  # type: ignore[index]
            optimizer.step()
            optimizer.zero_grad()
            if step in late:
                in_thread(lambda: box.append(replay.sample()))

    record(path, model, optimizer, train)
    return running(path)


def test_a_prefetching_thread_may_be_early_or_late(tmp_path: Path) -> None:
    early = prefetched(tmp_path / "a.h5", late=())
    assert prefetched(tmp_path / "b.h5", late=(1, 2)) == early
    run = read(tmp_path / "b.h5")
    samples = [(seen.step, seen.flags) for seen in run.of(Group.REPLAY)]
    assert samples[0] == (0, EventFlag.NONE)
    assert [step for step, _ in samples[1:]] == [0, 2, 3, 3]
    assert all(EventFlag.BACKGROUND in flags for _, flags in samples[1:])
    # A thread that comes first does not begin the step, which reads the streams.
    assert run.names(Group.RNG, 2) == run.names(Group.RNG, 1)
    assert not any(EventFlag.BACKGROUND in seen.flags for seen in run.of(Group.RNG))


def test_the_order_in_which_actors_come_is_no_difference(tmp_path: Path) -> None:
    def act(path: Path, order: Sequence[str]) -> list[bytes]:
        model, optimizer = small()

        def train(_: Any) -> None:
            for _ in range(2):
                out: dict[str, torch.Tensor] = {}

                def work(name: str, out: dict[str, torch.Tensor] = out) -> None:
                    out[name] = model[name](torch.ones(1, 2))  # type: ignore[index]

                for name in order:
                    in_thread(lambda name=name: work(name))  # type: ignore[misc]
                backward((out["a"] + out["b"]).sum())
                optimizer.step()

        run = record(path, model, optimizer, train)
        # Recorded they are all the same.
        assert set(run.names(Group.FORWARD, 0)) == {
            f"model.{name}.{role}" for name in "ab" for role in ("in[0]", "out")
        }
        return running(path)

    assert act(tmp_path / "a.h5", "ab") == act(tmp_path / "b.h5", "ba")


def test_what_the_thread_that_steps_does_still_counts(tmp_path: Path) -> None:
    def learn(path: Path, fault: float) -> list[bytes]:
        model, optimizer = small()

        def step() -> None:
            backward(model["a"](torch.full((1, 2), 1.0 + fault)).sum())  # type: ignore[index]
            optimizer.step()

        def train(_: Any) -> None:
            in_thread(step, "learner")
            in_thread(step, "learner")

        run = record(path, model, optimizer, train)
        assert not any(EventFlag.BACKGROUND in seen.flags for seen in run.events)
        assert run.names(Group.RNG, 1).count("rng.torch_cpu@start") == 1
        assert "rng.torch_cpu@loss" in run.names(Group.RNG, 1)
        return running(path)

    bare = learn(tmp_path / "a.h5", 0.0)
    assert learn(tmp_path / "b.h5", 0.0) == bare
    assert learn(tmp_path / "c.h5", 0.5)[1:] != bare[1:]


@pytest.mark.parametrize("level", ["coarse", "stats"])
def test_other_levels_set_such_events_apart_too(tmp_path: Path, level: str) -> None:
    def train_with(path: Path, samples: int) -> list[bytes]:
        model, optimizer = small()
        replay = Replay()

        def train(recording: probes.Recording) -> None:
            recording.watch(replay, "sample")
            for _ in range(samples):
                in_thread(replay.sample)
            backward(model["a"](torch.ones(1, 2)).sum())  # type: ignore[index]
            optimizer.step()

        with probes.attach(model, optimizer, out=path, level=level) as recording:
            train(recording)
        with open_run(path) as run:
            return [run.running_digest(row) for row in range(run.step_count)]

    assert train_with(tmp_path / "a.h5", 1) == train_with(tmp_path / "b.h5", 3)
