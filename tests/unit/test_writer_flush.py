"""When the writer writes, in which order, and what an interrupt leaves."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs import open_run
from probes import writer as writer_module
from probes.tables import GrowingColumn
from probes.writer import Header, RunWriter
from tests.verification import verify

BLOCK = Layout("float32", (64,))


def see(writer: RunWriter, number: int, layout: Layout = BLOCK) -> None:
    raw = np.random.default_rng(number).bytes(layout.nbytes)
    content = np.frombuffer(raw, dtype=np.uint8)
    buffer = writer.buffer(Group.USER, f"x{number % 5}", "x", "value")
    writer.event(buffer, layout, content_digest(content, layout), content=content)


def steps_on_disk(path: Path) -> int:
    with h5py.File(path, "r", swmr=True) as file:
        return len(file["steps/step"])


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(writer_module, "time", clock)
    return clock


def test_init_is_on_disk_at_once_and_steps_when_the_time_has_come(
    tmp_path: Path, clock: Clock
) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=1.0)
    writer.close_step(-1)
    assert steps_on_disk(writer.path) == 1
    for step in range(3):
        clock.now += 0.3
        see(writer, step)
        writer.close_step(step)
    assert steps_on_disk(writer.path) == 1
    clock.now += 0.3
    writer.close_step(3)
    assert steps_on_disk(writer.path) == 5
    writer.finish(schema.END_COMPLETE)


def test_a_long_step_does_not_hold_back_the_ones_before(tmp_path: Path, clock: Clock) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(), flush_seconds=1.0)
    writer.close_step(-1)
    see(writer, 0)
    writer.close_step(0)
    clock.now += 60.0
    for number in range(writer_module.EVENTS_PER_LOOK):
        see(writer, number)
    assert steps_on_disk(writer.path) == 2
    writer.close_step(1)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert run.event_count == 1 + writer_module.EVENTS_PER_LOOK
        verify(run)


def test_payload_is_not_piled_up(tmp_path: Path) -> None:
    third = Layout("float32", (schema.PAYLOAD_CHUNK_ELEMENTS // 3 + 1,))
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=1e9)
    writer.close_step(-1)
    for number in range(5):
        see(writer, number, third)
    # The third filled a chunk, and the two after it wait.
    assert len(writer._file["payload/values/float32"]) == schema.PAYLOAD_CHUNK_ELEMENTS
    assert len(writer._file["payload/index/start"]) == 0
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert verify(run) == 5


@pytest.mark.parametrize("at", [0, 3, 12, 25])
def test_an_interrupted_flush_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    put = GrowingColumn.put
    calls = [0]

    def interrupted(self: GrowingColumn, start: int, rows: np.typing.ArrayLike) -> None:
        calls[0] += 1
        if calls[0] == at + 1:
            raise KeyboardInterrupt
        put(self, start, rows)

    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=0.0)
    writer.close_step(-1)
    monkeypatch.setattr(GrowingColumn, "put", interrupted)
    see(writer, 0)
    with pytest.raises(KeyboardInterrupt):
        writer.close_step(0)
    for step in range(1, 4):
        see(writer, step)
        writer.close_step(step)
    writer.finish(schema.END_INCOMPLETE, "interrupted")
    with open_run(writer.path) as run:
        assert (run.step_count, run.event_count) == (5, 4)
        assert verify(run) == 4


@pytest.mark.parametrize("kept", [1, 6])
def test_no_step_is_on_disk_before_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    # What a reader sees between any two writes of a flush is what a kill there would leave.
    put = GrowingColumn.put
    seen: list[tuple[int, int]] = []
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=0.0)

    def watched(self: GrowingColumn, start: int, rows: np.typing.ArrayLike) -> None:
        put(self, start, rows)
        writer._file.flush()
        with h5py.File(writer.path, "r", swmr=True) as file:
            # The reader leaves a step out whose events are missing; here none may be missing.
            rows = len(file["steps/event_count"])
            ends = file["steps/first_event"][:rows] + file["steps/event_count"][:rows]
            for column in schema.EVENTS:
                assert (ends <= len(file[column.path])).all()
        with open_run(writer.path) as run:
            seen.append((run.step_count, verify(run)))

    monkeypatch.setattr(GrowingColumn, "put", watched)
    for step in range(2):
        for number in range(kept):
            see(writer, 10 * step + number)
        writer.close_step(step)
    writer.finish(schema.END_COMPLETE)
    assert seen == sorted(seen)
    assert {(steps, contents) for steps, contents in seen} == {
        (steps, steps * kept) for steps in range(3)
    }


def test_contents_beyond_those_that_are_remembered_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probes.payload.KNOWN_CONTENTS", 2)
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"))
    for number in (0, 1, 0, 2, 1, 3, 4, 0):
        see(writer, number)
    writer.close_step(-1)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert verify(run) == 8
    with h5py.File(writer.path, "r") as file:
        # The first is known as long as it is among the last two to four, and so not in the end.
        assert len(file["payload/index/start"]) == 6


def test_whole_chunks_and_their_ends_are_read_back(tmp_path: Path) -> None:
    chunk = schema.PAYLOAD_CHUNK_ELEMENTS
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=0.0)
    for number, elements in enumerate((5, chunk - 5, 3 * chunk, 7, 2 * chunk + 1, chunk)):
        see(writer, number, Layout("float32", (elements,)))
        writer.close_step(number - 1)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert verify(run) == 6
