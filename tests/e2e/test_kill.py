"""SIGKILL at any moment: the file opens, and every step in it is whole."""

import os
import random
import signal
from pathlib import Path

import h5py
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest, pairs_from_bytes
from bisect_debugger.runs import Run, open_run
from tests.e2e.writing import events_of, kill_at_random, start, write_until_killed
from tests.verification import verify

ROUNDS = int(os.environ.get("BISECT_DEBUGGER_KILLS", "20"))
"""How many processes are killed; more on demand."""


def holds_what_was_written(run: Run) -> None:
    assert verify(run) == run.event_count
    for row in range(run.step_count):
        expected = list(events_of(row + schema.INIT_STEP))
        events = run.events(row)
        assert [run.buffers[buffer].name for buffer in events.buffer] == [
            name for name, _, _ in expected
        ]
        digests = [pairs_from_bytes(content_digest(raw, layout))[0] for _, layout, raw in expected]
        assert events.digest.tolist() == [pair.tolist() for pair in digests]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_killed_run_opens_and_every_step_is_whole(tmp_path: Path, round_: int) -> None:
    path = tmp_path / "killed.h5"
    # Every other round flushes at each step, so that every reported step must be there.
    flush_seconds = 0.0 if round_ % 2 else 0.02
    closed = kill_at_random(path, flush_seconds, random.Random(round_))
    with open_run(path) as run:
        assert not run.facts.complete
        assert "killed" in run.facts.end_reason
        holds_what_was_written(run)
        steps = run.steps(0, run.step_count)
        assert steps.step.tolist() == list(range(-1, run.step_count - 1))
        if flush_seconds == 0.0:
            assert run.last_step >= closed[-1]
        assert run.last_step >= schema.INIT_STEP


def test_a_run_that_is_being_written_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "growing.h5"
    process, reports = start(write_until_killed, path, 0.0)
    try:
        counts: list[int] = []
        # On a busy machine two looks may meet the same step: looked on until 20 were met.
        while len(set(counts)) < 20:
            last = [reports.recv() for _ in range(5)][-1]
            with h5py.File(path, "r", swmr=True) as file:
                # Steps first, as the file's description says: all they refer to is there.
                end = min(len(file[column.path]) for column in schema.STEPS)
                assert file["steps/step"][end - 1] >= last
                first, count = (
                    int(file[f"steps/{name}"][end - 1]) for name in ("first_event", "event_count")
                )
                buffers = file["events/buffer"][first : first + count]
                names = [file["buffers/name"][buffer].decode() for buffer in buffers]
                assert names == [name for name, _, _ in events_of(end - 1 + schema.INIT_STEP)]
                counts.append(end)
            with open_run(path) as run:
                assert run.step_count >= end
                expected = [name for name, _, _ in events_of(run.last_step)]
                buffers = run.events(run.step_count - 1).buffer
                assert [run.buffers[buffer].name for buffer in buffers] == expected
        assert counts == sorted(counts)
    finally:
        process.kill()
        process.join()
    assert process.exitcode == -signal.SIGKILL
