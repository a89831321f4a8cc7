"""Comparing two contents of one layout, in blocks, so that memory stays bounded.

Equality is judged on bits: two NaN of one bit pattern are equal, -0 and 0 are not. Distances
are computed in float64 from the decoded values.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout, to_float64
from bisect_debugger.metrics.difference import Difference
from bisect_debugger.metrics.elements import side_of
from bisect_debugger.metrics.ulp import UlpHistogram, ulp_distance

BLOCK_ELEMENTS = 1 << 20
"""Elements per block: temporaries are a few float64 arrays of this length."""

IMPLAUSIBLE = 1e6
"""Magnitude from which a value looks like memory that nobody wrote. Trained weights and
activations of ordinary models stay far below; allocator garbage read as floats does not."""

SIGN_FLIP_COSINE = -0.9
"""Cosine between two rows below which the row counts as sign-flipped."""

_TINY = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}
"""Smallest normal magnitude; what lies below and is not zero is denormal (IEEE 754)."""


def compare_arrays(
    a: npt.NDArray[Any], b: npt.NDArray[Any], layout: Layout, block: int = BLOCK_ELEMENTS
) -> Difference | None:
    """The numbers of a difference.

    Args:
        a: first content, in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape of both.
        block: elements per block.

    Returns:
        None where the contents are bit-equal.
    """
    left, right = _flat_bits(a, layout), _flat_bits(b, layout)
    totals = _Totals()
    axes = _AxisRanges(layout.shape)
    histogram = UlpHistogram()
    for lo in range(0, layout.elements, block):
        bits_a, bits_b = left[lo : lo + block], right[lo : lo + block]
        differs = _unequal(bits_a, bits_b)
        where = np.flatnonzero(differs)
        axes.add(where + lo)
        stored_a, stored_b = bits_a.view(layout.storage), bits_b.view(layout.storage)
        _add_values(totals, stored_a, stored_b, differs, layout.dtype)
        distance = ulp_distance(bits_a[where], bits_b[where], layout.dtype)
        if distance is not None:
            histogram.add(distance)
    if not axes.count:
        return None
    first, last = axes.first, axes.last
    flipped, rows = _sign_flipped_rows(left, right, layout)
    return Difference(
        dtype=layout.dtype,
        shape=layout.shape,
        elements=layout.elements,
        differing=axes.count,
        rel_fro=totals.rel_fro,
        max_abs=totals.max_abs,
        mean_abs=totals.sum_abs / totals.finite if totals.finite else float("nan"),
        max_ulp=histogram.greatest,
        ulp_histogram=histogram.bins(),
        first_index=_index(first, layout.shape),
        last_index=_index(last, layout.shape),
        axis_ranges=axes.ranges(),
        first_a=side_of(left[first : first + 1], layout.dtype),
        first_b=side_of(right[first : first + 1], layout.dtype),
        nan_a=totals.nan_a,
        nan_b=totals.nan_b,
        inf_a=totals.inf_a,
        inf_b=totals.inf_b,
        negative_zero=totals.negative_zero,
        implausible_a=totals.implausible_a,
        implausible_b=totals.implausible_b,
        sign_flipped_rows=flipped,
        rows=rows,
    )


def _flat_bits(values: npt.NDArray[Any], layout: Layout) -> npt.NDArray[Any]:
    """(n,) unsigned integers of the element width, or (n, 2) for complex128."""
    flat = np.ascontiguousarray(values, dtype=layout.storage).reshape(-1)
    width = layout.storage.itemsize
    if width == 16:
        pairs: npt.NDArray[Any] = flat.view("<u8").reshape(-1, 2)
        return pairs
    return flat.view(f"<u{width}")


def _unequal(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    unequal: npt.NDArray[np.bool_] = a != b
    if unequal.ndim == 2:
        return np.logical_or(unequal[:, 0], unequal[:, 1])
    return unequal


@dataclass(slots=True)
class _ScaledSquares:
    """A sum of squares as scale**2 * total (the scheme of LAPACK's lassq)."""

    scale: float = 0.0
    total: float = 0.0

    def add(self, magnitudes: npt.NDArray[np.float64]) -> None:
        greatest = float(magnitudes.max(initial=0.0))
        if greatest == 0.0:
            return
        if greatest > self.scale:
            self.total *= (self.scale / greatest) ** 2
            self.scale = greatest
        self.total += float(np.square(magnitudes / self.scale).sum())

    def norm(self) -> float:
        return self.scale * float(np.sqrt(self.total))


@dataclass(slots=True)
class _Totals:
    """Sums over all blocks. Squares are kept scaled, so that they neither overflow nor vanish."""

    difference: _ScaledSquares = field(default_factory=_ScaledSquares)
    reference: _ScaledSquares = field(default_factory=_ScaledSquares)
    sum_abs: float = 0.0
    max_abs: float = 0.0
    finite: int = 0
    nan_a: int = 0
    nan_b: int = 0
    inf_a: int = 0
    inf_b: int = 0
    negative_zero: int = 0
    implausible_a: int = 0
    implausible_b: int = 0

    @property
    def rel_fro(self) -> float:
        if not self.finite:
            return float("nan")
        norm = self.reference.norm()
        if norm == 0.0:
            return float("inf") if self.difference.norm() else 0.0
        return self.difference.norm() / norm


def _add_values(
    totals: _Totals,
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    differs: npt.NDArray[np.bool_],
    dtype: str,
) -> None:
    if dtype in ("str", "bytes"):
        return
    if a.ndim == 2:
        a, b = a[:, 0], b[:, 0]
    with np.errstate(all="ignore"):
        x, y = to_float64(a, dtype), to_float64(b, dtype)
        finite = np.isfinite(x) & np.isfinite(y)
        totals.nan_a += int(np.isnan(x).sum())
        totals.nan_b += int(np.isnan(y).sum())
        totals.inf_a += int(np.isinf(x).sum())
        totals.inf_b += int(np.isinf(y).sum())
        totals.negative_zero += int((differs & (x == 0) & (y == 0)).sum())
        distance = np.abs(x - y)[finite]
        totals.finite += int(finite.sum())
        if distance.size:
            totals.max_abs = max(totals.max_abs, float(distance.max()))
            totals.sum_abs += float(distance.sum())
        totals.difference.add(distance[np.isfinite(distance)])
        totals.reference.add(np.abs(x[finite]))
        tiny = _TINY.get(dtype)
        if tiny is not None:
            totals.implausible_a += _implausible(x, tiny)
            totals.implausible_b += _implausible(y, tiny)


def _implausible(values: npt.NDArray[Any], tiny: float) -> int:
    magnitudes = np.abs(values)
    return int(((magnitudes >= IMPLAUSIBLE) | ((magnitudes > 0) & (magnitudes < tiny))).sum())


class _AxisRanges:
    """Count, first, last, and per axis the range of differing indices."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self.count = 0
        self.first = self.last = -1
        self._ranges: list[tuple[int, int]] = []

    def add(self, flat: npt.NDArray[np.intp]) -> None:
        if not flat.size:
            return
        if not self.count:
            self.first = int(flat[0])
        self.last = int(flat[-1])
        self.count += int(flat.size)
        if not self._shape:
            return
        indices = np.unravel_index(flat, self._shape)
        found = [(int(axis.min()), int(axis.max())) for axis in indices]
        before = self._ranges or found
        self._ranges = [
            (min(lo, new_lo), max(hi, new_hi))
            for (lo, hi), (new_lo, new_hi) in zip(before, found, strict=True)
        ]

    def ranges(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._ranges)


def _sign_flipped_rows(a: npt.NDArray[Any], b: npt.NDArray[Any], layout: Layout) -> tuple[int, int]:
    """Rows along the last axis whose cosine is below `SIGN_FLIP_COSINE`, and all rows."""
    if len(layout.shape) < 2 or not layout.elements or a.ndim == 2 or layout.dtype == "str":
        return 0, 0
    width = layout.shape[-1]
    rows = layout.elements // width
    flipped = 0
    step = max(1, BLOCK_ELEMENTS // width)
    for lo in range(0, rows, step):
        span = slice(lo * width, min(rows, lo + step) * width)
        with np.errstate(all="ignore"):
            x = to_float64(a[span].view(layout.storage), layout.dtype).reshape(-1, width)
            y = to_float64(b[span].view(layout.storage), layout.dtype).reshape(-1, width)
            x = x / np.abs(x).max(axis=1, keepdims=True)
            y = y / np.abs(y).max(axis=1, keepdims=True)
            lengths = np.sqrt((np.abs(x) ** 2).sum(axis=1) * (np.abs(y) ** 2).sum(axis=1))
            cosine = (x * np.conj(y)).sum(axis=1).real / lengths
        flipped += int((cosine < SIGN_FLIP_COSINE).sum())
    return flipped, rows


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(axis) for axis in np.unravel_index(flat, shape)) if shape else ()
