"""Ways in which a run file comes to harm, by accident or on purpose: bytes in, bytes out."""

import random
from collections.abc import Callable

from bisect_debugger.runs.superblock import lookup3

SIGNATURES = (b"OHDR", b"OCHK", b"EAHD", b"EAIB", b"FRHP", b"FHDB", b"BTHD", b"BTLF", b"FSHD")
"""Beginnings of the blocks of metadata that a run has, each with a checksum at its end."""

ABSURD = (0, 1, 0xFF, 0xFFFF, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)

Damage = Callable[[bytearray, random.Random], None]


def flip(raw: bytearray, dice: random.Random) -> None:
    """A few bits, anywhere."""
    for _ in range(dice.choice((1, 1, 1, 8))):
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)


def wipe(raw: bytearray, dice: random.Random) -> None:
    """A stretch becomes zeros, ones or noise, as where a disk lost a sector."""
    start, length = dice.randrange(len(raw)), dice.choice((8, 64, 512, 4096))
    length = min(length, len(raw) - start)
    raw[start : start + length] = dice.choice(
        (bytes(length), b"\xff" * length, dice.randbytes(length))
    )


def swap(raw: bytearray, dice: random.Random) -> None:
    """Two stretches change places."""
    length = dice.choice((8, 64, 512, 4096))
    if len(raw) <= 2 * length:
        return
    one, two = (dice.randrange(len(raw) - length) for _ in range(2))
    first, second = bytes(raw[one : one + length]), bytes(raw[two : two + length])
    raw[one : one + length], raw[two : two + length] = second, first


def swap_blocks(raw: bytearray, dice: random.Random) -> None:
    """Two blocks of metadata of one kind change places, each whole and rightly checked."""
    blocks = checked_blocks(raw)
    sizes = [end - start for start, end in blocks]
    same = [pair for pair, size in zip(blocks, sizes, strict=True) if sizes.count(size) > 1]
    if len(same) < 2:
        return
    (one, end_one) = dice.choice(same)
    others = [pair for pair in same if pair[1] - pair[0] == end_one - one and pair[0] != one]
    (two, end_two) = dice.choice(others)
    first, second = bytes(raw[one:end_one]), bytes(raw[two:end_two])
    raw[one:end_one], raw[two:end_two] = second, first


def forge_flip(raw: bytearray, dice: random.Random) -> None:
    """Bits of metadata are flipped, and the checksum is made to agree."""
    start, end = dice.choice(checked_blocks(raw))
    for _ in range(dice.choice((1, 1, 2))):
        raw[dice.randrange(start + 4, end - 4)] ^= 1 << dice.randrange(8)
    _check_again(raw, start, end)


def forge_number(raw: bytearray, dice: random.Random) -> None:
    """A number of the metadata becomes absurd, and the checksum is made to agree."""
    start, end = dice.choice(checked_blocks(raw))
    width = dice.choice((1, 2, 4, 8))
    place = dice.randrange(start + 4, max(start + 5, end - 4 - width))
    raw[place : place + width] = (dice.choice(ABSURD) % 256**width).to_bytes(width, "little")
    _check_again(raw, start, end)


def texts(raw: bytearray, dice: random.Random) -> None:
    """The heap of the attributes' texts, which carries no checksum, is written over."""
    heap = raw.find(b"GCOL")
    if heap < 0:
        return
    place = heap + dice.randrange(4, 4096)
    width = dice.choice((1, 2, 8))
    raw[place : place + width] = (dice.choice(ABSURD) % 256**width).to_bytes(width, "little")


DAMAGES: tuple[Damage, ...] = (flip, wipe, swap, swap_blocks, forge_flip, forge_number, texts)


def damaged(raw: bytes, seed: int) -> tuple[str, bytes]:
    """One damage; the seed alone decides which and where."""
    dice = random.Random(seed)
    damage = DAMAGES[seed % len(DAMAGES)]
    harmed = bytearray(raw)
    damage(harmed, dice)
    return damage.__name__, bytes(harmed)


def checked_blocks(raw: bytes | bytearray) -> list[tuple[int, int]]:
    """Where the blocks of metadata lie whose length is told by themselves, checksum included."""
    found = []
    for signature in SIGNATURES:
        start = raw.find(signature)
        while start >= 0:
            end = _end(raw, start)
            if end and _checksum(raw, start, end) == raw[end - 4 : end]:
                found.append((start, end))
            start = raw.find(signature, start + 4)
    return sorted(found)


_LENGTHS: dict[bytes, int] = {}


def _end(raw: bytes | bytearray, start: int) -> int:
    """End of a block; 0 where it cannot be told.

    HDF5 file format specification, version 3.0, "Version 2 Data Object Header Prefix"; the other
    kinds have one length throughout a file, which is found by its checksum.
    """
    kind = bytes(raw[start : start + 4])
    if kind == b"OHDR":
        flags = raw[start + 5]
        place = start + 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
        width = 1 << (flags & 3)
        return place + width + int.from_bytes(raw[place : place + width], "little") + 4
    if kind not in _LENGTHS:
        lengths = range(16, min(1024, len(raw) - start))
        _LENGTHS[kind] = next(
            (
                n
                for n in lengths
                if _checksum(raw, start, start + n) == raw[start + n - 4 : start + n]
            ),
            0,
        )
    return start + _LENGTHS[kind] if _LENGTHS[kind] else 0


def _checksum(raw: bytes | bytearray, start: int, end: int) -> bytes:
    return lookup3(bytes(raw[start : end - 4])).to_bytes(4, "little")


def _check_again(raw: bytearray, start: int, end: int) -> None:
    raw[end - 4 : end] = _checksum(raw, start, end)
