"""The numbers of one difference, as plain frozen data."""

from dataclasses import dataclass

SAME_SEED_REL_FRO = 1e-5
"""Largest relFro between runs of one seed that counts as the same run: measured
on QR-built init in nine processes of one seed, which moved at most 1.04e-6."""

DIFFERENT_SEED_REL_FRO = 1e-1
"""Smallest relFro between runs of different seeds (two independent draws give sqrt 2)."""


@dataclass(frozen=True, slots=True)
class Side:
    """One element on one side: decimal text that round-trips, and its bits in hex."""

    decimal: str
    hex: str


@dataclass(frozen=True, slots=True)
class Difference:
    """How two contents of one layout differ.

    Attributes:
        dtype: element type.
        shape: extents.
        elements: number of elements, n.
        differing: elements whose bits differ, k.
        rel_fro: ||A-B||_F / ||A||_F over the finite elements; inf where ||A|| is 0 and the
            contents differ, nan where nothing finite is left to compare.
        max_abs: greatest absolute difference over finite elements, in the buffer's own unit.
        mean_abs: mean absolute difference over finite elements.
        max_ulp: greatest distance in units in the last place, or None for types without one.
        ulp_histogram: (low, high, count) per bin, ``low <= ULP <= high``, bins by powers of 2.
        first_index: index of the first differing element in row-major order.
        last_index: index of the last one.
        axis_ranges: per axis the (first, last) index over all differing elements.
        first_a, first_b: both values there.
        nan_a, nan_b, inf_a, inf_b: counts of NaN and Inf on each side.
        negative_zero: elements that differ only in the sign of zero.
        implausible_a, implausible_b: elements that look like uninitialised memory
            (|v| >= 1e6 or denormal).
        sign_flipped_rows, rows: rows (last axis) with cosine < -0.9, of how many.
    """

    dtype: str
    shape: tuple[int, ...]
    elements: int
    differing: int
    rel_fro: float
    max_abs: float
    mean_abs: float
    max_ulp: int | None
    ulp_histogram: tuple[tuple[int, int, int], ...]
    first_index: tuple[int, ...]
    last_index: tuple[int, ...]
    axis_ranges: tuple[tuple[int, int], ...]
    first_a: Side
    first_b: Side
    nan_a: int
    nan_b: int
    inf_a: int
    inf_b: int
    negative_zero: int
    implausible_a: int
    implausible_b: int
    sign_flipped_rows: int
    rows: int

    @property
    def percent(self) -> float:
        """Differing elements in percent of all."""
        return 100.0 * self.differing / self.elements if self.elements else 0.0

    @property
    def one_sided_nonfinite(self) -> bool:
        """NaN or Inf on one side only."""
        return bool(self.nan_a) != bool(self.nan_b) or bool(self.inf_a) != bool(self.inf_b)
