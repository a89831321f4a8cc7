"""Damaged beginnings of files are refused before HDF5 searches them for minutes."""

from pathlib import Path

import pytest

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.runs import open_run
from bisect_debugger.runs.superblock import lookup3, writer_was_killed
from tests.runs import plain_steps, write_run


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0xDEADBEEF), (b"Four score and seven years ago", 0x17770551)],
)
def test_the_hash_is_that_of_its_author(data: bytes, expected: int) -> None:
    assert lookup3(data) == expected


@pytest.mark.parametrize("flags", [1, 4, 5])
def test_a_mark_that_nobody_set_is_damage(tmp_path: Path, flags: int) -> None:
    path = write_run(tmp_path / "a.h5", plain_steps())
    raw = bytearray(path.read_bytes())
    raw[11] = flags
    path.write_bytes(raw)
    with pytest.raises(UnreadableRun, match="superblock has another checksum"):
        open_run(path)


def test_texts_that_lead_nowhere_are_damage(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a.h5", plain_steps())
    raw = bytearray(path.read_bytes())
    heap = raw.index(b"GCOL")
    raw[heap + 16 : heap + 400] = bytes(384)
    path.write_bytes(raw)
    with pytest.raises(UnreadableRun, match="texts are not readable"):
        open_run(path)


def test_a_file_in_order_carries_no_mark(tmp_path: Path) -> None:
    assert not writer_was_killed(write_run(tmp_path / "a.h5", plain_steps()))
