"""The digest of a tensor where it lies: integer operations of torch, on any device.

Copying a tensor to the host to hash it costs more than training with it, so on a device only 32
bytes are fetched. `bisect_debugger.format.multilinear` defines the function. Integers wrap, and
sums of them do not depend on the order in which a device takes them, so the result is exact and
the same on every device; every word has a key of its own, so it depends on the order of elements.
"""

import functools

import torch
import xxhash

from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.multilinear import BLOCK_WORDS, keys_of_level

_CHUNK_BLOCKS = 1 << 8
"""Blocks that are multiplied at once, which bounds the memory taken: 32 MiB per product."""

_WORD_BYTES = 4


def device_digest(tensor: torch.Tensor, layout: Layout) -> bytes:
    """16-byte digest of a dense tensor, computed on its device.

    Args:
        tensor: dense, strided, of torch's own class; it is only read.
        layout: its element type and shape, which count as the bits do.
    """
    with torch.no_grad():
        words, tail = _words_of(tensor.detach().resolve_conj().resolve_neg())
        sums = _sums(words, tail, level=0)
    # The only thing that is fetched; the host folds the layout in as it does with other digests.
    raw = sums.cpu().numpy().astype("<i8").tobytes()
    return xxhash.xxh3_128_digest(raw, layout.seed)


@functools.lru_cache(maxsize=64)
def _keys_on(device: torch.device, level: int) -> torch.Tensor:
    return torch.from_numpy(keys_of_level(level)).to(device, copy=True)


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
        for part in torch.split(whole, _CHUNK_BLOCKS)
    ]
    if rest.numel():
        of_blocks.append((keys[:, : rest.numel()] * rest).sum(dim=1).unsqueeze(0))
    upper = torch.cat(of_blocks).reshape(-1).view(torch.int32)
    return _sums(upper, None, level + 1)
