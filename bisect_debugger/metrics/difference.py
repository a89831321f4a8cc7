"""The numbers of one difference, as plain frozen data."""

from dataclasses import dataclass

SAME_SEED_REL_FRO = 1e-5
"""Largest relFro between runs of one seed that still counts as the same run.

Source: measurements on two trainers. A 9.2-million-parameter model initialised in nine
processes of one seed was bit-equal but for factors of a QR decomposition, which moved by at
most 1.04e-6 (about 5 ULP at magnitude 1). A language model whose batches a racing prefetch
thread drew drifted by about 1e-5 in training.
"""

DIFFERENT_SEED_REL_FRO = 1e-1
"""Smallest relFro between runs of different seeds.

Source: the same two trainers under another seed. The first was 1.414 to 1.415 apart, as two
independent draws with mean zero are (the square root of 2); the second about 1e-1.
"""


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
        rel_fro: ||A-B||_F / ||A||_F over the elements that are finite on both sides; 0 where
            only non-finite values or signs of zero differ, inf where ||A|| is 0 and the
            contents differ, nan where no finite number is left to compare (also text, bytes).
        max_abs: greatest absolute difference over the same elements, in the buffer's own unit;
            inf where it is past float64, nan where there is no such element.
        mean_abs: mean absolute difference over the same elements.
        max_ulp: greatest distance in units in the last place; of complex numbers over both
            parts. None for types without one, and where every differing element has a NaN.
        ulp_histogram: (low, high, count) per bin, ``low <= ULP <= high``, bins by powers of 2.
        first_index: index of the first differing element in row-major order.
        last_index: index of the last one.
        axis_ranges: per axis the (first, last) index over all differing elements.
        first_a, first_b: both values there.
        nan_a, nan_b, inf_a, inf_b: elements with a NaN or Inf (part) on each side.
        negative_zero: elements that differ only in the sign of zero.
        implausible_a, implausible_b: finite elements that look like uninitialised memory:
            |v| >= 1e6, or denormal in bfloat16, float32 or float64. Only for real floats.
        sign_flipped_rows, rows: rows (last axis) with cosine < -0.9, of how many; (0, 0) for
            vectors, scalars and types that are no floats.
        max_abs_index: index of the first element with ``max_abs``, or None where that is 0
            or nan.
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
    max_abs_index: tuple[int, ...] | None = None

    @property
    def percent(self) -> float:
        """Differing elements in percent of all."""
        return 100.0 * self.differing / self.elements if self.elements else 0.0

    @property
    def one_sided_nonfinite(self) -> bool:
        """One side has more NaN or Inf than the other.

        Counts and not presence: where both sides hold the Inf of a mask, one more is news.
        """
        return self.nan_a != self.nan_b or self.inf_a != self.inf_b
