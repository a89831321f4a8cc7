"""Sums over an array read in blocks that are the same to the last bit for every block length.

Two things make them so. Values are summed in chunks of fixed length at fixed places, and the
chunks one after the other, whatever block they came in. And scaling, which keeps squares from
overflowing or vanishing, is by powers of two, which rounds nothing.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CHUNK = 256
"""Elements per chunk; every block but the last is a multiple of it."""

_PLAIN_EXPONENT = 300
"""Magnitudes within 2**±300 are summed as they are: their squares neither overflow nor vanish."""


def whole_chunks(block: int) -> int:
    """The block length to work with: ``block`` rounded to whole chunks, at least one."""
    return max(1, block // CHUNK) * CHUNK


def chunk_sums(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sums of the chunks along the last axis of (rows, n) values, as (rows, chunks)."""
    rows, width = values.shape
    full = width // CHUNK * CHUNK
    sums = np.empty((rows, -(-width // CHUNK)), dtype=np.float64)
    sums[:, : full // CHUNK] = values[:, :full].reshape(rows, -1, CHUNK).sum(axis=2)
    if full < width:
        sums[:, -1] = values[:, full:].sum(axis=1)
    return sums


def add_in_order(
    totals: npt.NDArray[np.float64], sums: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """(rows,) totals plus (rows, chunks) sums, strictly from left to right."""
    together = np.concatenate([totals[:, None], sums], axis=1)
    added: npt.NDArray[np.float64] = np.add.accumulate(together, axis=1)[:, -1]
    return added


def unit_exponent(magnitudes: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Exponent of the power of two to divide by before squaring; 0 where none is needed."""
    exponents = np.frexp(magnitudes)[1].astype(np.int64)
    return np.where(np.abs(exponents) > _PLAIN_EXPONENT, exponents, 0)


def times_power(
    values: npt.NDArray[np.float64], exponent: npt.NDArray[np.int64] | int
) -> npt.NDArray[np.float64]:
    """``values * 2**exponent`` for exponents whose power alone is outside float64."""
    if not np.any(exponent):
        return values
    half = np.asarray(exponent) // 2
    scaled: npt.NDArray[np.float64] = values * np.ldexp(1.0, half) * np.ldexp(1.0, exponent - half)
    return scaled


@dataclass(slots=True)
class ScaledSum:
    """A sum of magnitudes, or of their squares, as ``total * 2**(power * exponent)``.

    Attributes:
        power: 1 for magnitudes, 2 for squares.
        exponent: the unit's exponent, or None as long as everything was zero.
        total: the sum in that unit.
    """

    power: int
    exponent: int | None = None
    total: float = 0.0

    def add(self, magnitudes: npt.NDArray[np.float64], shift: int = 0) -> None:
        """Add (n,) magnitudes, each given as a finite number times ``2**shift``."""
        greatest = magnitudes.max(initial=0.0)
        if greatest == 0.0:
            return
        exponent = int(unit_exponent(greatest)) + shift
        before = exponent if self.exponent is None else self.exponent
        self.exponent = max(before, exponent)
        self.total = math.ldexp(self.total, self.power * (before - self.exponent))
        scaled = times_power(magnitudes, shift - self.exponent)
        if self.power == 2:
            scaled = scaled * scaled
        sums = chunk_sums(scaled[None, :])
        self.total = float(add_in_order(np.array([self.total]), sums)[0])

    def merge(self, other: "ScaledSum") -> None:
        """Add a sum of the same power."""
        if other.exponent is None:
            return
        before = other.exponent if self.exponent is None else self.exponent
        self.exponent = max(before, other.exponent)
        self.total = math.ldexp(self.total, self.power * (before - self.exponent)) + math.ldexp(
            other.total, self.power * (other.exponent - self.exponent)
        )

    @property
    def norm(self) -> tuple[float, int]:
        """(m, e): the ``power``-th root of the sum is ``m * 2**e``."""
        root = math.sqrt(self.total) if self.power == 2 else self.total
        return root, self.exponent or 0


def ratio(numerator: ScaledSum, denominator: ScaledSum) -> float:
    """Quotient of two norms: inf where only the denominator is zero, 0 where both are."""
    above, above_exponent = numerator.norm
    below, below_exponent = denominator.norm
    if below == 0.0:
        return math.inf if above else 0.0
    with np.errstate(all="ignore"):
        return float(np.ldexp(above / below, above_exponent - below_exponent))
