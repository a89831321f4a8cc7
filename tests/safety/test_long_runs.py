"""Many steps: memory, time per step, handles and flushes stay as they are; counters have room."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs import open_run
from probes.writer import MOST_OPTIMIZERS, Header, RunWriter
from tests.safety.processes import ROOT, environment

SLICES = 10

GROWTH = 4 << 20
"""Bytes of memory that may come on top over all slices but the first: names of new buffers."""


def check_long(path: Path, kind: str, steps: int) -> None:
    command = [sys.executable, "-m", "tests.safety.long_run", kind, str(steps), str(SLICES)]
    done = subprocess.run(
        [*command, str(path)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    seconds, memory = report["seconds"], report["memory"]
    # A generous bound on a ratio: growth with the number of steps would be tenfold.
    assert np.median(seconds[-3:]) <= 2.0 * np.median(seconds[1:4]), seconds
    assert memory[-1] - memory[2] <= GROWTH + memory[2] // 20, memory
    assert len(set(report["handles"])) == 1
    # Two halves a flush, one flush at most for each interval, and the one at the start.
    intervals = report["elapsed"] / report["flush_seconds"] + 2
    assert report["flushes"][-1] <= 2 * intervals
    with open_run(path) as run:
        assert run.facts.complete
        assert run.last_step == steps - 1


@pytest.mark.parametrize(("kind", "steps"), [("writer", 20_000), ("trainer", 4_000)])
def test_many_small_steps(tmp_path: Path, kind: str, steps: int) -> None:
    check_long(tmp_path / "a.h5", kind, steps)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", ["writer", "trainer"])
def test_a_million_small_steps(tmp_path: Path, kind: str) -> None:
    check_long(tmp_path / "a.h5", kind, 1_000_000)


def test_events_and_elements_are_counted_beyond_32_bits(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header(level="full"), flush_seconds=1e9)
    layout = Layout("float32", (3,))
    # As if so many had been written; the file has holes there.
    writer._events._written = 2**32 - 2
    column = writer._payload._columns["float32"]
    column._open, column._written = (2**32 - 4, 0), 2**32 - 4
    buffer = writer.buffer(Group.USER, "x", "x", "value")
    digests = []
    for step in range(3):
        raw = np.full(3, step, dtype="<f4").view(np.uint8)
        digests.append(content_digest(raw, layout))
        writer.event(buffer, layout, digests[-1], content=raw)
        writer.event(buffer, layout, digests[-1], content=raw)
        writer.close_step(2**32 - 1 + step)
    writer.finish(schema.END_COMPLETE)
    assert writer.failed == ""
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["steps/first_event"][:].tolist() == [2**32 - 2, 2**32, 2**32 + 2]
        assert file["steps/step"][:].tolist() == [2**32 - 1, 2**32, 2**32 + 1]
        pairs = file["events/digest"][2**32 - 2 : 2**32 + 4]
        assert [pair.astype(">u8").tobytes() for pair in pairs] == [
            digest for digest in digests for _ in range(2)
        ]
        assert file["payload/index/start"][:].tolist() == [2**32 - 4, 2**32 - 1, 2**32 + 2]
        assert file["payload/values/float32"][2**32 - 1 : 2**32 + 2].tolist() == [1.0] * 3


def test_what_counts_with_the_steps_has_64_bits() -> None:
    narrow = {"events/buffer", "events/layout", "events/flags", "events/thread", "buffers/group"}
    # Bounded by what a program has, and not by how long it runs.
    narrow |= {"steps/optimizer", "steps/closed", "payload/index/layout", "edges/differentiable"}
    sides = ("consumer", "consumer_occurrence", "producer", "producer_occurrence")
    narrow |= {f"edges/{side}" for side in sides}
    for columns in schema.TABLES.values():
        for column in columns:
            dtype = np.dtype(column.dtype)
            if dtype.kind in "iu" and column.path not in narrow:
                assert dtype.itemsize == 8, column.path


def test_more_optimizers_than_the_file_can_number(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "a.h5", Header())
    for step, optimizer in enumerate((0, MOST_OPTIMIZERS, 70_000, 2**40)):
        writer.close_step(step, optimizer=optimizer)
    writer.finish(schema.END_COMPLETE)
    assert writer.failed == ""
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["steps/optimizer"][:].tolist() == [0, *[MOST_OPTIMIZERS] * 3]
