"""Closed steps are folded several at once, to what they would be one by one."""

import random
from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs import open_run
from probes import closing
from probes.folding import Folding
from probes.writer import Header, RunWriter
from tests.verification import verify

SCALAR = Layout("float32", ())
GROUPS = (Group.FORWARD, Group.LOSS, Group.GRAD, Group.PARAM)


def write(path: Path, steps: int, *, ask: bool = False, level: str = "digest") -> list[list[int]]:
    """A run of steps of 0 to 9 events; the digests of each step's groups, if they are asked for."""
    drawn = random.Random(7)
    writer = RunWriter(path, Header(level=level), flush_seconds=1e9)
    buffers = [writer.buffer(group, f"{group.label}.x", "net", "out") for group in GROUPS]
    asked = []
    for step in range(-1, steps - 1):
        for _ in range(drawn.randrange(10)):
            writer.event(drawn.choice(buffers), SCALAR, drawn.randbytes(16))
        digests = writer.close_step(step)
        if ask:
            assert digests is not None
            groups = digests()
            assert groups is not None
            asked.append(groups.tolist())
    writer.finish(schema.END_COMPLETE)
    return asked


@pytest.mark.parametrize("level", ["digest", "coarse", "stats"])
def test_asking_after_each_step_changes_nothing(tmp_path: Path, level: str) -> None:
    steps = 3 * closing.STEPS_AT_ONCE + 5
    write(tmp_path / "a.h5", steps, level=level)
    asked = write(tmp_path / "b.h5", steps, ask=True, level=level)
    with open_run(tmp_path / "a.h5") as a, open_run(tmp_path / "b.h5") as b:
        if level != "coarse":
            verify(a)
        one, other = a.steps(0, steps), b.steps(0, steps)
        assert one.step.tolist() == other.step.tolist() == list(range(-1, steps - 1))
        assert one.group_digest.tolist() == other.group_digest.tolist() == asked
        for row in range(steps):
            assert a.running_digest(row) == b.running_digest(row)
            assert a.events(row).digest.tolist() == b.events(row).digest.tolist()


def after_init(folder: Path) -> tuple[RunWriter, int]:
    """A writer that has flushed init, as it does at once, and waits from now on; and a buffer."""
    writer = RunWriter(folder / "a.h5", Header(), flush_seconds=1e9)
    buffer = writer.buffer(Group.LOSS, "loss", "loss", "loss")
    writer.close_step(-1)
    return writer, buffer


def folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each step that is folded, as it is."""
    sizes, step = [], Folding.step

    def counted(self: Folding, packed: bytearray, row: np.dtype[np.void], stepping: int) -> object:
        sizes.append(len(packed))
        return step(self, packed, row, stepping)

    monkeypatch.setattr(Folding, "step", counted)
    return sizes


def test_nothing_is_folded_before_it_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, buffer = after_init(tmp_path)
    sizes = folded(monkeypatch)
    for step in range(closing.STEPS_AT_ONCE - 1):
        writer.event(buffer, SCALAR, bytes(16))
        writer.close_step(step)
    assert sizes == []
    writer.close_step(closing.STEPS_AT_ONCE - 1)
    assert len(sizes) == closing.STEPS_AT_ONCE
    writer.finish(schema.END_COMPLETE)


def test_a_long_step_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, buffer = after_init(tmp_path)
    sizes = folded(monkeypatch)
    for _ in range(closing.BYTES_AT_ONCE // 28 + 1):
        writer.event(buffer, SCALAR, bytes(16))
    writer.close_step(0)
    assert len(sizes) == 1
    writer.finish(schema.END_COMPLETE)


def test_a_flush_and_the_count_of_events_hold_all_closed_steps(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(), flush_seconds=0.0)
    buffer = writer.buffer(Group.LOSS, "loss", "loss", "loss")
    for step in range(3):
        writer.event(buffer, SCALAR, bytes(16))
        writer.close_step(step)
        assert writer.event_count == step + 1
        with open_run(tmp_path / "a.h5") as run:
            assert (run.last_step, run.event_count) == (step, step + 1)
    writer.finish(schema.END_COMPLETE)


def test_an_interrupt_while_steps_are_folded_leaves_them_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, buffer = after_init(tmp_path)
    step, calls = Folding.step, [0]

    def interrupted(
        self: Folding, packed: bytearray, row: np.dtype[np.void], stepping: int
    ) -> object:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return step(self, packed, row, stepping)

    monkeypatch.setattr(Folding, "step", interrupted)
    for number in range(closing.STEPS_AT_ONCE - 1):
        writer.event(buffer, SCALAR, number.to_bytes(16, "big"))
        writer.close_step(number)
    with pytest.raises(KeyboardInterrupt):
        writer.close_step(closing.STEPS_AT_ONCE - 1)
    writer.finish(schema.END_COMPLETE)
    with open_run(tmp_path / "a.h5") as run:
        verify(run)
        rows = run.steps(1, closing.STEPS_AT_ONCE + 1)
        assert rows.step.tolist() == list(range(closing.STEPS_AT_ONCE))
        counts = [len(run.events(row + 1)) for row in range(closing.STEPS_AT_ONCE)]
        assert counts == [1] * (closing.STEPS_AT_ONCE - 1) + [0]


def test_steps_that_cannot_be_folded_do_not_keep_the_file_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, buffer = after_init(tmp_path)
    writer.event(buffer, SCALAR, bytes(16))
    writer.close_step(0)

    def broken(*_: object) -> object:
        raise ValueError("planted")

    monkeypatch.setattr(Folding, "step", broken)
    with pytest.raises(ValueError, match="planted"):
        writer.finish(schema.END_COMPLETE)
    writer.finish(schema.END_INCOMPLETE, "ValueError: planted")
    with open_run(tmp_path / "a.h5") as run:
        assert (run.facts.complete, run.facts.end_reason) == (False, "ValueError: planted")
        assert run.last_step == -1
