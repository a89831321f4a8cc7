"""The sign check: rows of a tensor that point the other way in the second content.

A factorisation that is free to choose a sign gives whole rows or columns with cosine -1; an
order of additions never does.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics.bits import Words, decode, is_float
from bisect_debugger.metrics.sums import add_in_order, chunk_sums, times_power, unit_exponent

SIGN_FLIP_COSINE = -0.9
"""Cosine between two rows below which the row counts as sign-flipped."""


@dataclass(slots=True)
class _Dots:
    """Three scalar products per row, summed over the row's segments."""

    xx: npt.NDArray[np.float64]
    yy: npt.NDArray[np.float64]
    xy: npt.NDArray[np.float64]

    def add(self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> None:
        self.xx = add_in_order(self.xx, chunk_sums(x * x))
        self.yy = add_in_order(self.yy, chunk_sums(y * y))
        self.xy = add_in_order(self.xy, chunk_sums(x * y))


def sign_flipped_rows(a: Words, b: Words, layout: Layout, block: int) -> tuple[int, int]:
    """Rows along the last axis whose cosine is below `SIGN_FLIP_COSINE`, and all rows.

    A complex row is the vector of its parts, so the cosine is that of the real part of the
    scalar product. Rows with a NaN or Inf, or of zeros only, have no cosine and do not count
    as flipped.

    Args:
        a: (n, p) words of the first content.
        b: (n, p) words of the second.
        layout: element type and shape; fewer than two axes or no floats give (0, 0).
        block: elements per block, a multiple of the chunk.
    """
    if len(layout.shape) < 2 or not layout.elements or not is_float(layout.dtype):
        return 0, 0
    width = layout.shape[-1]
    rows = layout.elements // width
    together = max(1, block // width)
    flipped = 0
    for lo in range(0, rows, together):
        span = slice(lo * width, min(rows, lo + together) * width)
        flipped += _flipped(
            a[span].reshape(-1, width * a.shape[1]),
            b[span].reshape(-1, width * b.shape[1]),
            layout.dtype,
            block,
        )
    return flipped, rows


def _flipped(a: Words, b: Words, dtype: str, block: int) -> int:
    """Flipped rows among (rows, width) words; several rows are together at most one block."""
    segments = [slice(lo, lo + block) for lo in range(0, a.shape[1], block)]
    differs = np.zeros(len(a), dtype=np.bool_)
    for segment in segments:
        differs |= (a[:, segment] != b[:, segment]).any(axis=1)
    # The cosine of a row with itself is 1: only rows with a difference can be flipped.
    a, b = a[differs], b[differs]
    if not len(a):
        return 0
    with np.errstate(all="ignore"):
        scale_x, scale_y = _scale(a, dtype, segments), _scale(b, dtype, segments)
        zero = np.zeros(len(a), dtype=np.float64)
        dots = _Dots(zero, zero, zero)
        for segment in segments:
            dots.add(
                times_power(decode(a[:, segment], dtype), scale_x),
                times_power(decode(b[:, segment], dtype), scale_y),
            )
        cosine = dots.xy / (np.sqrt(dots.xx) * np.sqrt(dots.yy))
    return int(np.count_nonzero(cosine < SIGN_FLIP_COSINE))


def _scale(words: Words, dtype: str, segments: list[slice]) -> npt.NDArray[np.int64]:
    """(rows, 1) exponents that bring every row's magnitudes where squares are safe."""
    greatest = np.zeros(len(words), dtype=np.float64)
    for segment in segments:
        greatest = np.maximum(greatest, np.abs(decode(words[:, segment], dtype)).max(axis=1))
    return -unit_exponent(greatest)[:, None]
