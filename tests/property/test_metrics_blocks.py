"""Reading a content in blocks changes no bit of any number, and bounds the memory."""

import tracemalloc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout
from bisect_debugger.metrics import compare_arrays, difference_map
from bisect_debugger.metrics.compare import BLOCK_ELEMENTS

SHAPES = st.one_of(
    st.tuples(st.integers(1, 3000)),
    st.tuples(st.integers(1, 60), st.integers(1, 60)),
    st.tuples(st.integers(1, 3), st.integers(200, 1500)),
    st.tuples(st.integers(1, 4), st.integers(1, 20), st.integers(1, 30)),
)


def _wild(layout: Layout, seed: int, spread: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Two contents whose magnitudes differ by up to ``2**spread``, with a few NaN and Inf."""
    generator = np.random.default_rng(seed)
    kind = layout.storage.kind
    if kind not in "fc":
        raw = generator.bytes(layout.nbytes)
        a = np.frombuffer(raw, dtype=layout.storage).reshape(layout.shape).copy()
    else:
        a = _scattered(generator, layout.shape, spread, layout.storage)
        if kind == "c":
            a = a + _scattered(generator, layout.shape, spread, layout.storage) * 1j
    b = a.copy().reshape(-1)
    where = generator.integers(0, layout.elements, size=max(1, layout.elements // 3))
    b[where] = b[generator.permutation(where)]
    flipped = generator.integers(0, layout.elements, size=3)
    b.view("u1").reshape(layout.elements, -1)[flipped, -1] ^= 0x80
    if kind == "f" and seed % 3 == 0:
        b[generator.integers(0, layout.elements, size=2)] = [np.nan, np.inf]
    if seed % 5 == 0:
        b.view("u1")[:] = a.reshape(-1).view("u1") ^ np.uint8(1)
    return a, b.reshape(layout.shape)


def _scattered(
    generator: np.random.Generator, shape: tuple[int, ...], spread: int, kind: np.dtype[Any]
) -> npt.NDArray[Any]:
    with np.errstate(over="ignore", under="ignore"):
        power = generator.integers(-spread, spread + 1, size=shape)
        return np.ldexp(generator.standard_normal(shape), power).astype(kind)


@given(
    dtype=st.sampled_from(sorted(STORAGE_DTYPES)),
    shape=SHAPES,
    seed=st.integers(0, 2**32),
    spread=st.sampled_from([0, 3, 290, 310, 1020]),
    block=st.sampled_from([1, 256, 300, 512, 1024]),
)
def test_blocks_give_what_the_whole_gives(
    dtype: str, shape: tuple[int, ...], seed: int, spread: int, block: int
) -> None:
    layout = Layout(dtype, shape)
    with np.errstate(all="ignore"):
        a, b = _wild(layout, seed, spread)
    whole = compare_arrays(a, b, layout, block=1 << 20)
    # The text of a number tells every bit of it, and that of nan equals itself.
    assert repr(compare_arrays(a, b, layout, block=block)) == repr(whole)
    picture = difference_map(a, b, layout, 5, 7, block=block)
    assert picture.tolist() == difference_map(a, b, layout, 5, 7, block=1 << 20).tolist()


@pytest.mark.parametrize("shape", [(6_000_000,), (2, 3_000_000), (3_000_000, 2)])
def test_memory_does_not_grow_with_the_content(shape: tuple[int, ...]) -> None:
    layout = Layout("bfloat16", shape)
    a = np.full(shape, 0x3F80, dtype=layout.storage)
    b = a ^ np.uint16(0x8001)
    tracemalloc.start()
    try:
        difference = compare_arrays(a, b, layout)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert difference is not None
    assert difference.differing == 6_000_000
    # One float64 array of the whole content would be 48 MB.
    assert peak < 16 * BLOCK_ELEMENTS * 8
