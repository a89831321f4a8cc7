"""The digest of a tensor where it lies: integer operations of torch, on any device.

Copying a tensor to the host to hash it costs more than training with it, so on a device only 32
bytes are fetched. The function is a multilinear hash, as in Lemire and Kaser, "Strongly universal
string hashing is fast" (The Computer Journal 57, 2014): the content is read as 32-bit words `x`,
and four sums over `key[i] * x[i]` are taken modulo 2**64, each with 64-bit keys of its own. Two
contents of one length agree in the upper half of one sum with a chance of 2**-32, whatever they
are, and in all four with 2**-128.

Integers wrap and sums of them do not depend on the order in which a device takes them, so the
result is exact and the same on every device; every word has a key of its own, so it depends on
the order of the elements. Contents longer than a block are hashed as a tree: the sums of the blocks
are the words of the next level, which has other keys.
"""

import functools

import numpy as np
import numpy.typing as npt
import torch
import xxhash

from bisect_debugger.format.digests import DEVICE_ALGORITHM
from bisect_debugger.format.layouts import Layout

__all__ = ["DEVICE_ALGORITHM", "device_digest", "keys_of_level"]

LANES = 4
BLOCK_WORDS = 1 << 14
"""Words per block. Four tables of keys of this length are kept on each device."""

_CHUNK_BLOCKS = 1 << 8
"""Blocks that are multiplied at once, which bounds the memory taken: 32 MiB per product."""

_WORD_BYTES = 4
_SEED = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio: digits that nobody chose."""

_U64 = (1 << 64) - 1


def device_digest(tensor: torch.Tensor, layout: Layout) -> bytes:
    """16-byte digest of a dense tensor, computed on its device.

    Args:
        tensor: dense, strided, neither lazily conjugated nor negated; it is only read.
        layout: its element type and shape, which count as the bits do.
    """
    with torch.no_grad():
        words, tail = _words_of(tensor.detach())
        sums = _sums(words, tail, level=0)
    # The only thing that is fetched; the host folds the layout in as it does with other digests.
    raw = sums.cpu().numpy().astype("<i8").tobytes()
    return xxhash.xxh3_128_digest(raw, layout.seed)


def keys_of_level(level: int) -> npt.NDArray[np.uint64]:
    """(LANES, BLOCK_WORDS) keys of a level of the tree: splitmix64 of a counter.

    Args:
        level: 0 for the content, 1 for the sums of its blocks, and so on.

    Source of the generator: Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators" (OOPSLA 2014).
    """
    count = LANES * BLOCK_WORDS
    with np.errstate(over="ignore"):
        state = np.arange(1 + level * count, 1 + (level + 1) * count, dtype=np.uint64)
        state *= np.uint64(_SEED)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state.reshape(LANES, BLOCK_WORDS)


@functools.lru_cache(maxsize=64)
def _keys_on(device: torch.device, level: int) -> torch.Tensor:
    return torch.from_numpy(keys_of_level(level).view(np.int64)).to(device)


def _words_of(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The content as (n,) int32, and as one more word the bytes that do not fill one."""
    if not tensor.numel():
        return tensor.new_empty(0, dtype=torch.int32), None
    flat = tensor.contiguous().reshape(-1)
    if flat.stride(0) != 1:
        # A single element may have any stride, and then has no view of another type.
        flat = torch.empty_like(flat, memory_format=torch.contiguous_format).copy_(flat)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    size = flat.numel() * flat.element_size()
    if flat.element_size() % _WORD_BYTES == 0 and _is_aligned(flat, _WORD_BYTES):
        return flat.view(torch.int32), None
    octets = flat.view(torch.uint8)
    whole = size - size % _WORD_BYTES
    tail = None
    if whole < size:
        tail = octets.new_zeros(_WORD_BYTES)
        tail[: size - whole] = octets[whole:]
        tail = tail.view(torch.int32)
    octets = octets[:whole]
    if not _is_aligned(octets, _WORD_BYTES):
        octets = octets.clone()
    return octets.view(torch.int32), tail


def _is_aligned(flat: torch.Tensor, to: int) -> bool:
    return int(flat.storage_offset()) * flat.element_size() % to == 0


def _sums(words: torch.Tensor, tail: torch.Tensor | None, level: int) -> torch.Tensor:
    """(LANES,) int64 sums over words, and over one more that stands behind them."""
    keys = _keys_on(words.device, level)
    blocks = words.numel() // BLOCK_WORDS
    rest = words[blocks * BLOCK_WORDS :]
    if tail is not None:
        rest = torch.cat([rest, tail])
    if blocks == 1 and not rest.numel():
        blocks, rest = 0, words
    if not blocks:
        return (keys[:, : rest.numel()] * rest).sum(dim=1)
    whole = words[: blocks * BLOCK_WORDS].view(blocks, BLOCK_WORDS)
    of_blocks = [
        torch.stack([(part * key).sum(dim=1) for key in keys], dim=1)
        for part in whole.split(_CHUNK_BLOCKS)
    ]
    if rest.numel():
        of_blocks.append((keys[:, : rest.numel()] * rest).sum(dim=1).unsqueeze(0))
    upper = torch.cat(of_blocks).reshape(-1).view(torch.int32)
    return _sums(upper, None, level + 1)
