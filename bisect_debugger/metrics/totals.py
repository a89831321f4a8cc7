"""What is summed and counted about two contents, block by block."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bisect_debugger.metrics.bits import Words, any_part, decode, is_float, is_number
from bisect_debugger.metrics.sums import ScaledSum, ratio

IMPLAUSIBLE = 1e6
"""Magnitude from which a value looks like memory that nobody wrote. Trained weights and
activations of ordinary models stay far below; allocator garbage read as floats does not."""

_TINY = {"float64": 2.0**-1022, "float32": 2.0**-126, "bfloat16": 2.0**-126}
"""Smallest normal magnitude (IEEE 754) of the types in which a denormal is a sign of garbage.
In float16 and float8 the denormals begin at 6e-5 and above, where honest gradients live."""

_OVERFLOW_SHIFT = 2
"""Where |A - B| is past float64, it is formed from quarters instead."""


def _sum_of_squares() -> ScaledSum:
    return ScaledSum(power=2)


@dataclass(slots=True)
class Norms:
    """The two sums behind relFro = ||A - B||_F / ||A||_F, over any number of contents.

    Only elements that are finite on both sides count, in both sums.
    """

    difference: ScaledSum = field(default_factory=_sum_of_squares)
    reference: ScaledSum = field(default_factory=_sum_of_squares)
    finite: int = 0

    def add(
        self,
        x: npt.NDArray[np.float64],
        apart: npt.NDArray[np.float64],
        shift: int,
        finite: npt.NDArray[np.bool_],
    ) -> None:
        """Add a block.

        Args:
            x: (n, p) parts of the first content.
            apart: (n, p) magnitudes of A - B in units of ``2**shift``, 0 where not finite.
            shift: exponent of that unit.
            finite: (n,) elements that count.
        """
        # Squares of the parts, not of the modulus, which rounds among the denormals.
        self.difference.add(apart.reshape(-1), shift)
        self.reference.add(np.where(finite[:, None], np.abs(x), 0.0).reshape(-1))
        self.finite += int(np.count_nonzero(finite))

    def merge(self, other: "Norms") -> None:
        """Add the sums over further contents."""
        self.difference.merge(other.difference)
        self.reference.merge(other.reference)
        self.finite += other.finite

    @property
    def rel_fro(self) -> float:
        """The relative Frobenius norm; nan where nothing finite was there, inf where A is 0."""
        return ratio(self.difference, self.reference) if self.finite else float("nan")


@dataclass(slots=True)
class Totals:
    """Sums and counts over all blocks of one pair of contents.

    Attributes:
        norms: the sums behind relFro.
        distances: sum of |A - B|.
        max_abs: greatest |A - B|; inf where it is past float64, nan where nothing was finite.
        max_at: row-major position of its first element, or None where all are zero.
        greatest: ``max_abs``, then the same in units that cannot overflow.
        nan_a, nan_b, inf_a, inf_b: elements with such a part.
        negative_zero: elements that differ only in the sign of zero.
        implausible_a, implausible_b: finite elements that look like unwritten memory.
    """

    norms: Norms = field(default_factory=Norms)
    distances: ScaledSum = field(default_factory=lambda: ScaledSum(power=1))
    max_abs: float = float("nan")
    max_at: int | None = None
    greatest: tuple[float, float] = (-1.0, -1.0)
    nan_a: int = 0
    nan_b: int = 0
    inf_a: int = 0
    inf_b: int = 0
    negative_zero: int = 0
    implausible_a: int = 0
    implausible_b: int = 0

    @property
    def mean_abs(self) -> float:
        """Mean absolute difference over finite elements; nan where there is none."""
        if not self.norms.finite:
            return float("nan")
        total, exponent = self.distances.norm
        with np.errstate(all="ignore"):
            return float(np.ldexp(total / self.norms.finite, exponent))

    def add(
        self, a: Words, b: Words, differs: npt.NDArray[np.bool_], dtype: str, start: int
    ) -> None:
        """Count a block in.

        Args:
            a: (n, p) words of the first content.
            b: (n, p) words of the second.
            differs: (n,) whether their bits differ.
            dtype: element type.
            start: row-major position of the block.
        """
        if not is_number(dtype):
            return
        x, y = decode(a, dtype), decode(b, dtype)
        finite = _both_finite(x, y)
        with np.errstate(all="ignore"):
            apart, shift = _apart(a, b, x, y, finite, dtype)
            self.norms.add(x, apart, shift, finite)
            self._add_distances(_modulus(apart), shift, finite, start)
        if is_float(dtype):
            self._count(x, y, differs, dtype)

    def _add_distances(
        self,
        apart: npt.NDArray[np.float64],
        shift: int,
        finite: npt.NDArray[np.bool_],
        start: int,
    ) -> None:
        self.distances.add(apart, shift)
        if not finite.any():
            return
        at = int(np.argmax(np.where(finite, apart, -1.0)))
        # Two distances past float64 are both inf; in smaller units they still compare.
        greatest = (
            float(np.ldexp(apart[at], shift)),
            float(np.ldexp(apart[at], shift - _OVERFLOW_SHIFT)),
        )
        if greatest > self.greatest:
            self.greatest = greatest
            self.max_abs = greatest[0]
            self.max_at = start + at if self.max_abs else None

    def _count(
        self,
        x: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        differs: npt.NDArray[np.bool_],
        dtype: str,
    ) -> None:
        self.nan_a += _rows_with(np.isnan(x))
        self.nan_b += _rows_with(np.isnan(y))
        self.inf_a += _rows_with(np.isinf(x))
        self.inf_b += _rows_with(np.isinf(y))
        # Floats of different bits that compare equal are the two zeros, and nothing else.
        self.negative_zero += int(np.count_nonzero(differs & ~any_part(x != y)))
        if x.shape[1] == 1:
            self.implausible_a += _implausible(x, dtype)
            self.implausible_b += _implausible(y, dtype)


def add_norms(norms: Norms, a: Words, b: Words, dtype: str) -> None:
    """Add a block of a further content to the sums behind an overall relFro."""
    x, y = decode(a, dtype), decode(b, dtype)
    finite = _both_finite(x, y)
    with np.errstate(all="ignore"):
        apart, shift = _apart(a, b, x, y, finite, dtype)
        norms.add(x, apart, shift, finite)


def _both_finite(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """(n,) whether every part of an element is finite on both sides."""
    return ~any_part(~(np.isfinite(x) & np.isfinite(y)))


def _apart(
    a: Words,
    b: Words,
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    finite: npt.NDArray[np.bool_],
    dtype: str,
) -> tuple[npt.NDArray[np.float64], int]:
    """(n, p) magnitudes of A - B in units of ``2**shift``, 0 where not finite, and the shift."""
    if not is_float(dtype):
        return _integers_apart(a, b, dtype), 0
    apart = np.where(finite[:, None], np.abs(x - y), 0.0)
    if np.isfinite(_modulus(apart)).all():
        return apart, 0
    scale = 2.0**-_OVERFLOW_SHIFT
    return np.where(finite[:, None], np.abs(x * scale - y * scale), 0.0), _OVERFLOW_SHIFT


def _integers_apart(a: Words, b: Words, dtype: str) -> npt.NDArray[np.float64]:
    """Exact |A - B| rounded once; float64 operands would lose the low bits before subtracting."""
    left, right = a, b
    if dtype.startswith("int"):
        signed = f"<i{left.dtype.itemsize}"
        first_greater = left.view(signed) > right.view(signed)
    else:
        first_greater = left > right
    # Unsigned subtraction of two's complements wraps to the true distance.
    apart = np.where(first_greater, left - right, right - left)
    return apart.astype(np.float64)


def _modulus(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if values.shape[1] == 1:
        return np.abs(values[:, 0])
    modulus: npt.NDArray[np.float64] = np.hypot(values[:, 0], values[:, 1])
    return modulus


def _rows_with(marks: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(any_part(marks)))


def _implausible(values: npt.NDArray[np.float64], dtype: str) -> int:
    magnitudes = np.abs(values)
    marks = (magnitudes >= IMPLAUSIBLE) & np.isfinite(magnitudes)
    if dtype in _TINY:
        marks |= (magnitudes > 0) & (magnitudes < _TINY[dtype])
    return int(np.count_nonzero(marks))
