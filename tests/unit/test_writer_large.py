"""Large contents: written while they are recorded, from the memory they lie in."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs import open_run
from probes.file_on_disk import SPARE_BYTES
from probes.tables import GrowingColumn
from probes.writer import Header, RunWriter
from tests.verification import verify

CHUNK = schema.PAYLOAD_CHUNK_ELEMENTS
SMALL, LARGE = Layout("float32", (100,)), Layout("float32", (2 * CHUNK + 7,))


def bytes_of(number: int, layout: Layout) -> npt.NDArray[np.uint8]:
    return np.frombuffer(np.random.default_rng(number).bytes(layout.nbytes), dtype=np.uint8).copy()


def see(writer: RunWriter, number: int, layout: Layout) -> npt.NDArray[np.uint8]:
    content = bytes_of(number, layout)
    buffer = writer.buffer(Group.USER, f"x{number}", "x", "value")
    writer.event(buffer, layout, content_digest(content, layout), content=content)
    return content


def new_writer(folder: Path) -> RunWriter:
    writer = RunWriter(folder / "a.h5", Header(level="full"), flush_seconds=1e9)
    writer.close_step(-1)
    return writer


def kept(path: Path) -> int:
    with h5py.File(path, "r") as file:
        return len(file["payload/index/start"])


def test_what_the_trainer_writes_afterwards_is_not_in_the_file(tmp_path: Path) -> None:
    writer = new_writer(tmp_path)
    for number, layout in enumerate((SMALL, LARGE, SMALL, LARGE, LARGE, SMALL)):
        see(writer, number, layout)[:] = 0xFF
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert verify(run) == 6
    assert kept(writer.path) == 6


def test_only_the_ends_of_a_large_content_wait(tmp_path: Path) -> None:
    writer = new_writer(tmp_path)
    for number in range(20):
        see(writer, number, LARGE)
        in_file = len(writer._file["payload/values/float32"])
        assert 0 <= (number + 1) * LARGE.elements - in_file < CHUNK
    writer.finish(schema.END_COMPLETE)


@pytest.mark.parametrize("at", [0, 1])
def test_an_interrupted_write_leaves_the_place_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    put, calls = GrowingColumn.put, [0]

    def interrupted(self: GrowingColumn, start: int, rows: npt.ArrayLike) -> None:
        calls[0] += 1
        if calls[0] == at + 1:
            raise KeyboardInterrupt
        put(self, start, rows)

    writer = new_writer(tmp_path)
    see(writer, 0, SMALL)
    monkeypatch.setattr(GrowingColumn, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        see(writer, 1, LARGE)
    for number, layout in ((2, SMALL), (3, LARGE), (1, LARGE), (4, SMALL)):
        see(writer, number, layout)
    writer.close_step(0)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert verify(run) == 6
    assert kept(writer.path) == 5


def interrupt_the_first_write(monkeypatch: pytest.MonkeyPatch, handler: Callable[[], None]) -> None:
    """Have what a signal handler does come just before the next write to the file."""
    put, handlers = GrowingColumn.put, [handler]

    def interrupted(self: GrowingColumn, start: int, rows: npt.ArrayLike) -> None:
        if handlers:
            handlers.pop()()
        put(self, start, rows)

    monkeypatch.setattr(GrowingColumn, "put", interrupted)


def test_what_a_signal_handler_records_during_a_write_has_no_content_and_harms_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = new_writer(tmp_path)

    def record() -> None:
        see(writer, 100, SMALL)
        see(writer, 101, LARGE)
        writer.close_step(0)

    see(writer, 0, SMALL)
    writer._flush_seconds = 0.0
    interrupt_the_first_write(monkeypatch, record)
    see(writer, 1, LARGE)
    see(writer, 2, LARGE)
    writer.close_step(1)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert (run.step_count, run.event_count) == (3, 5)
        verify(run)
        assert not writer.failed
    assert kept(writer.path) == 3


PROGRAM = """
import resource, sys
from pathlib import Path
from tests.unit.test_writer_large import LARGE, new_writer, see
from bisect_debugger.format import schema

writer = new_writer(Path(sys.argv[1]))
see(writer, 0, LARGE)
writer.close_step(0)
writer._flush()
size = writer.path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(sys.argv[2]), size + int(sys.argv[2])))
number = 0
while not writer.failed:
    number += 1
    see(writer, number, LARGE)
assert number < 10
see(writer, 100, LARGE)
writer.close_step(1)
print(writer.failed)
"""


def test_a_disk_that_fills_up_within_a_step_ends_the_run_in_order(tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(SPARE_BYTES + 4 * LARGE.nbytes)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == os.strerror(errno.EFBIG)
    assert done.stderr == ""
    with open_run(tmp_path / "a.h5") as run:
        assert run.last_step == 0
        assert run.facts.end_reason == "recording stopped: File too large"
        assert verify(run) == 1


def test_what_a_signal_handler_records_during_a_flush_has_no_content_and_harms_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = new_writer(tmp_path)

    def record() -> None:
        # As many as overwrite both buffers, if they were taken.
        for number in (100, 101, 102):
            see(writer, number, LARGE)

    see(writer, 0, SMALL)
    writer._flush_seconds = 0.0
    interrupt_the_first_write(monkeypatch, record)
    writer.close_step(0)
    see(writer, 1, SMALL)
    see(writer, 100, LARGE)
    writer.close_step(1)
    writer.finish(schema.END_COMPLETE)
    with open_run(writer.path) as run:
        assert (run.step_count, run.event_count) == (3, 6)
        # The second sight of one that went without its content brings it.
        assert verify(run) == 4
        assert not writer.failed
    assert kept(writer.path) == 3
