"""The digest on the device against the same sums in Python's integers, and what it must tell."""

import functools

import numpy as np
import pytest
import torch
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.multilinear import (
    BLOCK_WORDS,
    LANES,
    keys_of_level,
    multilinear_digest,
)
from probes.content import parts
from probes.device_digest import device_digest
from tests.property.test_content_digest import tensors


def layout_of(tensor: torch.Tensor) -> Layout:
    (part,) = parts(tensor)
    return part.layout


def digest(tensor: torch.Tensor) -> bytes:
    return device_digest(tensor, layout_of(tensor))


def reference(raw: bytes, layout: Layout) -> bytes:
    """The definition, in integers that have no width."""
    words = _signed_words(raw + bytes(-len(raw) % 4))
    level = 0
    while True:
        keys = keys_as_integers(level)
        blocks = [words[at : at + BLOCK_WORDS] for at in range(0, len(words), BLOCK_WORDS)] or [[]]
        sums = [
            sum(key * word for key, word in zip(lane, block, strict=False)) % 2**64
            for block in blocks
            for lane in keys
        ]
        raw = b"".join(number.to_bytes(8, "little") for number in sums)
        if len(blocks) == 1:
            return xxhash.xxh3_128_digest(raw, layout.seed)
        words, level = _signed_words(raw), level + 1


@functools.cache
def keys_as_integers(level: int) -> list[list[int]]:
    lanes: list[list[int]] = keys_of_level(level).tolist()
    return lanes


def _signed_words(raw: bytes) -> list[int]:
    return [int.from_bytes(raw[at : at + 4], "little", signed=True) for at in range(0, len(raw), 4)]


@given(tensors())
def test_equals_the_reference_however_the_elements_lie(tensor: torch.Tensor) -> None:
    version = tensor._version
    (part,) = parts(tensor)
    assert digest(tensor) == reference(bytes(part.content), part.layout)
    assert tensor._version == version


@settings(max_examples=8)
@given(
    st.integers(-3, 3),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([torch.uint8, torch.bfloat16, torch.float32, torch.complex128]),
    st.integers(0, 2**32),
)
def test_equals_the_reference_around_the_ends_of_blocks(
    beside: int, blocks: int, dtype: torch.dtype, seed: int
) -> None:
    count = blocks * BLOCK_WORDS * 4 // dtype.itemsize + beside
    raw = np.random.default_rng(seed).bytes(count * dtype.itemsize)
    tensor = torch.frombuffer(bytearray(raw), dtype=dtype)
    expected = reference(raw, layout_of(tensor))
    assert digest(tensor) == multilinear_digest(raw, layout_of(tensor)) == expected


@pytest.mark.long
def test_equals_the_reference_over_two_levels_of_blocks() -> None:
    words = BLOCK_WORDS * (BLOCK_WORDS // (2 * LANES) + 3) + 17
    raw = np.random.default_rng(0).bytes(4 * words)
    tensor = torch.frombuffer(bytearray(raw), dtype=torch.int32)
    # Python's integers would take minutes; numpy's wrap as torch's do.
    assert digest(tensor) == multilinear_digest(raw, layout_of(tensor))


def test_what_a_careless_hash_would_not_see() -> None:
    x = torch.arange(1.0, 40_001.0)
    swapped, negated, shifted = x.clone(), x.clone(), x.roll(1)
    swapped[[7, 30_000]] = swapped[[30_000, 7]]
    negated[30_000] *= -1
    others = [
        swapped,
        negated,
        shifted,
        x.flip(0),
        # What stands behind the end counts, also where it is zero.
        torch.cat([x, torch.zeros(1)]),
        x[:-1],
        x.reshape(1, -1),
        x.reshape(200, 200),
        x.view(torch.int32),
        x.view(torch.uint8),
        torch.zeros(40_000),
        torch.zeros(40_000).neg(),
        torch.zeros(40_000, dtype=torch.int32),
        torch.zeros(0),
        torch.zeros(()),
    ]
    assert len({digest(other) for other in [x, *others]}) == 1 + len(others)


@given(tensors(), st.data())
def test_any_flipped_bit_shows(tensor: torch.Tensor, data: st.DataObject) -> None:
    (part,) = parts(tensor)
    if not len(part.content) or tensor.dtype is torch.bool:
        return
    flipped = part.content.copy()
    flipped[data.draw(st.integers(0, len(flipped) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    other = torch.from_numpy(flipped).view(tensor.dtype).reshape(tensor.shape)
    assert digest(other) != digest(tensor)


def test_neighbours_are_told_apart() -> None:
    # Contents that differ in few low bits, which is where weak keys would show.
    rows = torch.arange(20_000, dtype=torch.int32).unsqueeze(1) * torch.tensor(
        [1, 0, 0], dtype=torch.int32
    )
    layout = layout_of(rows[0])
    assert len({device_digest(row, layout) for row in rows}) == len(rows)


@pytest.mark.cuda
def test_a_cuda_device_computes_the_same() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here; the same function is tested on the CPU above")
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        for count in (0, 1, 3, BLOCK_WORDS, 3 * BLOCK_WORDS + 5):
            tensor = (torch.randn(count) * 100).to(dtype)
            assert device_digest(tensor.cuda(), layout_of(tensor)) == digest(tensor)
