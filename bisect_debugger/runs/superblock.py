"""What a file's first bytes tell before HDF5 is asked: HDF5 searches damaged files for minutes.

Layouts and checksum are those of the HDF5 file format specification, version 3.0: "Disk Format:
Level 0A - Format Signature and Superblock" and "Disk Format: Level 1E - Global Heap".
"""

import re
from pathlib import Path

SIGNATURE = b"\x89HDF\r\n\x1a\n"

_SUPERBLOCK_BYTES = 48
_CHECKED_VERSIONS = (2, 3)
_WRITING = 4
"""Bit of the consistency flags that a single writer sets while it has the file open."""

_HEAP_BYTES = 4 << 20
"""Attributes are written when a file is made, so their texts stand this far at most."""

_HEAP_HEADER = 16
_HEAP = re.compile(rb"GCOL\x01\x00\x00\x00")
_MASK = 0xFFFFFFFF


def read_superblock(path: Path) -> bytes:
    """The first bytes of a file."""
    with path.open("rb") as stream:
        return stream.read(_SUPERBLOCK_BYTES)


def damage(path: Path, superblock: bytes) -> str:
    """What is wrong with a file that begins as HDF5 does, in words, or empty."""
    if len(superblock) == _SUPERBLOCK_BYTES and superblock[8] in _CHECKED_VERSIONS:
        if lookup3(superblock[:44]) != int.from_bytes(superblock[44:], "little"):
            return "its superblock has another checksum"
        if int.from_bytes(superblock[28:36], "little") > path.stat().st_size:
            return "its end is missing"
    with path.open("rb") as stream:
        if not _heaps_end(stream.read(_HEAP_BYTES)):
            return "its texts are not readable"
    return ""


def writer_was_killed(path: Path) -> bool:
    """The single-writer mark is still set in the superblock's consistency flags."""
    superblock = read_superblock(path)
    return len(superblock) > 11 and superblock[8] == 3 and bool(superblock[11] & _WRITING)


def lookup3(data: bytes) -> int:
    """Bob Jenkins' hash of 2006, with which HDF5 guards its metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    rest = data
    while len(rest) > 12:
        a, b, c = _mixed(*_added(a, b, c, rest[:12]))
        rest = rest[12:]
    if not rest:
        return c
    a, b, c = _added(a, b, c, rest.ljust(12, b"\0"))
    for turn in (14, 11, 25, 16, 4, 14, 24):
        # Each of the three in turn is mixed with the one before it: c, a, b, c, a, b, c.
        c, a, b = a, b, ((c ^ b) - _turned(b, turn)) & _MASK
    return b


def _added(a: int, b: int, c: int, words: bytes) -> tuple[int, int, int]:
    one, two, three = (int.from_bytes(words[k : k + 4], "little") for k in (0, 4, 8))
    return (a + one) & _MASK, (b + two) & _MASK, (c + three) & _MASK


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    for turn in (4, 6, 8, 16, 19, 4):
        a = ((a - c) & _MASK) ^ _turned(c, turn)
        c = (c + b) & _MASK
        a, b, c = b, c, a
    return a, b, c


def _turned(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & _MASK


def _heaps_end(head: bytes) -> bool:
    """Every collection of texts can be walked to its end; HDF5 itself would walk for ever."""
    for found in _HEAP.finditer(head):
        start = found.start()
        size = int.from_bytes(head[start + 8 : start + 16], "little")
        end, place = start + size, start + _HEAP_HEADER
        while place + _HEAP_HEADER <= min(end, len(head)):
            index = int.from_bytes(head[place : place + 2], "little")
            taken = int.from_bytes(head[place + 8 : place + 16], "little")
            # Object 0 is the free space, whose size counts its own header.
            taken = taken if index == 0 else _HEAP_HEADER + (taken + 7) // 8 * 8
            if taken < _HEAP_HEADER or place + taken > end:
                return False
            place += taken
    return True
