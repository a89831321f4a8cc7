"""The digest of tensors that are hashed on a device: its definition, in numpy.

The content is read as little-endian 32-bit words `x`, with signs, and four sums over
`key[i] * x[i]` are taken modulo 2**64, each with 64-bit keys of its own (Lemire and Kaser,
"Strongly universal string hashing is fast", The Computer Journal 57, 2014): two contents of
one length agree in the upper half of one sum with a chance of 2**-32, and in all four with
2**-128. A content longer than a block is a tree: the sums of its blocks are the words of the next
level, which has other keys. The digest is xxh3_128 over the four sums of the last level, seeded
with the layout.
"""

import functools

import numpy as np
import numpy.typing as npt
import xxhash

from bisect_debugger.format.digests import Content
from bisect_debugger.format.layouts import Layout

LANES = 4
BLOCK_WORDS = 1 << 14
"""Words per block; a table of keys has as many per lane."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: digits that nobody chose."""

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@functools.lru_cache(maxsize=4)
def keys_of_level(level: int) -> npt.NDArray[np.int64]:
    """(LANES, BLOCK_WORDS) keys of a level of the tree: splitmix64 of a counter, as int64.

    Source of the generator: Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators" (OOPSLA 2014).

    Args:
        level: 0 for the content, 1 for the sums of its blocks, and so on.
    """
    count = LANES * BLOCK_WORDS
    state = np.arange(1 + level * count, 1 + (level + 1) * count, dtype=np.uint64) * _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX[0]
    state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    state ^= state >> np.uint64(31)
    return state.reshape(LANES, BLOCK_WORDS).view(np.int64)


def multilinear_digest(content: Content, layout: Layout) -> bytes:
    """16-byte digest of a content, as a device computes it.

    Args:
        content: contiguous raw bytes, row-major.
        layout: element type and shape.
    """
    raw = content.tobytes() if isinstance(content, np.ndarray) else bytes(content)
    words: npt.NDArray[np.int32] = np.frombuffer(raw + bytes(-len(raw) % 4), dtype="<i4")
    level = 0
    while True:
        # Padding adds nothing to a sum, and the length is part of the layout.
        padded = np.pad(words, (0, -len(words) % BLOCK_WORDS or BLOCK_WORDS * (not len(words))))
        blocks = padded.reshape(-1, BLOCK_WORDS).astype(np.int64)
        sums = np.stack([(blocks * lane).sum(axis=1) for lane in keys_of_level(level)], axis=1)
        if len(sums) == 1:
            return xxhash.xxh3_128_digest(sums.astype("<i8").tobytes(), layout.seed)
        words, level = sums.astype("<i8").reshape(-1).view("<i4"), level + 1
