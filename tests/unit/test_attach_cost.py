"""What an event costs, counted and not timed: digests taken, bytes hashed, Python, writes, bytes.

The bounds lie a little above what is counted today. A change that crosses one makes probes slower;
where that is worth it, the bound moves with it and docs/performance.md says what was bought.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import probes
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import open_run
from probes.seeing import MOST_OPEN_EVENTS
from probes.slots import Slot
from probes.tables import GrowingColumn
from tests.unit.recorded import backward

ROWS, WIDTH, DEPTH = 64, 128, 3
WEIGHTS = DEPTH * (WIDTH * WIDTH + WIDTH) * 4
"""Bytes of the parameters."""
ACTIVATION = ROWS * WIDTH * 4


def trainer() -> tuple[nn.Module, torch.optim.Optimizer, Callable[[], None]]:
    """Three linear layers with a ReLU between each, Adam."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for _ in range(DEPTH):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(ROWS, WIDTH)

    def step() -> None:
        optimizer.zero_grad()
        backward(model(batch).square().mean())
        optimizer.step()

    return model, optimizer, step


def events_of_a_step(path: Path) -> int:
    with open_run(path) as run:
        return len(run.events(run.step_count - 1).buffer)


def test_no_content_is_hashed_twice_that_nobody_can_have_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizer, step = trainer()
    read = Slot.read
    hashed: dict[Group, list[int]] = {}

    def counted(self: Slot, value: object) -> Any:
        found = read(self, value)
        if found is not None:
            hashed.setdefault(self.group, []).append(found[1].nbytes)
        return found

    with probes.attach(model, optimizer, out=tmp_path / "a.h5"):
        step()
        step()
        monkeypatch.setattr(Slot, "read", counted)
        step()
    # Each layer's output once; inputs are outputs, and what the container returns is its child's.
    assert len(hashed[Group.FORWARD]) == 2 * DEPTH
    assert sum(hashed[Group.FORWARD]) == 2 * DEPTH * ACTIVATION
    assert len(hashed[Group.GRAD_OUT]) == 2 * DEPTH
    # Twice: after the step, and when the next one begins, since a write may leave no trace.
    assert sum(hashed[Group.PARAM]) == 2 * WEIGHTS
    assert sum(hashed[Group.GRAD]) == sum(hashed[Group.GRAD_SCRATCH]) == WEIGHTS
    # Hyper-parameters are those of the step before, and not read.
    assert sum(hashed[Group.OPTIM]) == 2 * WEIGHTS + 2 * DEPTH * 4


def test_an_event_costs_few_calls_of_python(tmp_path: Path) -> None:
    model, optimizer, step = trainer()

    def calls_of_a_step() -> int:
        calls = 0

        def counted(frame: FrameType, event: str, argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        for _ in range(3):
            step()
        sys.setprofile(counted)
        step()
        sys.setprofile(None)
        return calls

    bare = calls_of_a_step()
    # A flush, which comes by the clock, is no part of an event.
    with probes.attach(model, optimizer, out=tmp_path / "a.h5", flush_seconds=1e9):
        added = calls_of_a_step() - bare
    # Of torch's functions too, which hooks may send through more of its own.
    assert added <= 5.5 * events_of_a_step(tmp_path / "a.h5")


def test_outside_the_window_hooks_do_not_lie_in_the_way(tmp_path: Path) -> None:
    model, optimizer, step = trainer()
    calls = [0]

    def counted(frame: FrameType, event: str, argument: object) -> None:
        calls[0] += event == "call" and "/probes/" in frame.f_code.co_filename

    with probes.attach(model, optimizer, out=tmp_path / "a.h5", steps="3:4"):
        step()
        sys.setprofile(counted)
        step()
        sys.setprofile(None)
        outside = calls[0]
        step()
        step()
        step()
    with open_run(tmp_path / "a.h5") as run:
        assert [run.step_number(row) for row in range(run.step_count)] == [-1, 3]
    # The optimizer's hooks, which count the steps, the backward's, and a parameter's each.
    assert outside <= 20 + 2 * DEPTH


def test_a_step_waits_for_the_file_only_when_the_time_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizer, step = trainer()
    put = GrowingColumn.put
    writes = [0]

    def counted(self: GrowingColumn, start: int, rows: np.typing.ArrayLike) -> None:
        writes[0] += 1
        put(self, start, rows)

    with probes.attach(model, optimizer, out=tmp_path / "a.h5", flush_seconds=1e9):
        step()
        monkeypatch.setattr(GrowingColumn, "put", counted)
        for _ in range(50):
            step()
        assert writes[0] == 0


def test_an_event_takes_few_bytes_of_the_file(tmp_path: Path) -> None:
    sizes = []
    for steps in (100, 400):
        model, optimizer, step = trainer()
        path = tmp_path / f"{steps}.h5"
        with probes.attach(model, optimizer, out=path):
            for _ in range(steps):
                step()
        with open_run(path) as run:
            sizes.append((path.stat().st_size, run.event_count))
    (short, few), (long, many) = sizes
    assert (long - short) / (many - few) <= 40


def test_a_step_without_end_is_given_up_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MOST_OPEN_EVENTS * 28 * 4 < 256 << 20
    monkeypatch.setattr("probes.seeing.MOST_OPEN_EVENTS", 500)
    model, optimizer, step = trainer()
    with probes.attach(model, optimizer, out=tmp_path / "a.h5") as recording:
        step()
        with torch.no_grad():
            for _ in range(500):
                model(torch.zeros(2, WIDTH))
        waiting = recording.recorder.writer.waiting_events
        step()
    assert waiting <= 500 + 64
    assert "one step has more than 500 events" in capsys.readouterr().err
    with open_run(tmp_path / "a.h5") as run:
        assert not run.facts.complete
        assert run.last_step == 0
