"""A difference in sentences, in the manner of torch.testing."""

import math
from collections.abc import Iterator

from bisect_debugger.metrics.bits import is_count, is_float, is_number
from bisect_debugger.metrics.difference import (
    DIFFERENT_SEED_REL_FRO,
    SAME_SEED_REL_FRO,
    Difference,
)


def describe(difference: Difference) -> tuple[str, ...]:
    """What a person reads about a difference, most telling first; one line each."""
    d = difference
    unit = "elements" if is_number(d.dtype) else "bytes"
    where = f" at index {_index(d.first_index)}" if d.shape else ""
    return (
        f"{d.differing} / {d.elements} {unit} differ ({percent(d.differing, d.elements)})",
        *_distances(d),
        f"first difference{where}: {d.first_a.decimal} against {d.first_b.decimal}{_bits(d)}",
        *_extent(d),
        *_oddities(d),
    )


def judge(rel_fro: float) -> str:
    """What the size of a difference says about the two runs, as a clause.

    Args:
        rel_fro: relative Frobenius norm; 0, inf and nan have their own sentences.
    """
    if math.isnan(rel_fro):
        return "no finite number is left to compare"
    if rel_fro == 0:
        return "no distance: only signs of zero, NaN bits or non-finite values differ"
    if math.isinf(rel_fro):
        return "no ratio: the first side is all zero, or vanishes beside the difference"
    if rel_fro <= SAME_SEED_REL_FRO:
        return f"the size of rounding (same seed: at most {SAME_SEED_REL_FRO:g})"
    if rel_fro >= DIFFERENT_SEED_REL_FRO:
        return f"the size of another draw (different seed: at least {DIFFERENT_SEED_REL_FRO:g})"
    return (
        f"more than rounding ({SAME_SEED_REL_FRO:g}) and less than another draw "
        f"({DIFFERENT_SEED_REL_FRO:g})"
    )


def percent(part: int, whole: int) -> str:
    """A share with three digits that says neither 0 for some nor 100 for not all."""
    share = 100.0 * part / whole if whole else 0.0
    text = f"{share:.3g}"
    if part < whole and float(text) >= 100:
        return "over 99.9 %"
    return f"{text} %"


def _bits(d: Difference) -> str:
    return f" ({d.first_a.hex} against {d.first_b.hex})" if not is_count(d.dtype) else ""


def _distances(d: Difference) -> Iterator[str]:
    if not is_number(d.dtype) or d.dtype == "bool":
        return
    # The thresholds are about floats: labels and indices are never a rounding apart.
    if is_float(d.dtype):
        yield f"relFro {d.rel_fro:.3g}: {judge(d.rel_fro)}"
    if d.max_abs_index is not None:
        where = f" at index {_index(d.max_abs_index)}" if d.shape else ""
        yield f"greatest absolute difference {d.max_abs:.3g}{where}, mean {d.mean_abs:.3g}"
    if d.max_ulp is not None:
        yield f"greatest distance {d.max_ulp} ULP"


def _extent(d: Difference) -> Iterator[str]:
    if d.axis_ranges and d.differing > 1:
        spans = ", ".join(f"axis {i}: {lo}..{hi}" for i, (lo, hi) in enumerate(d.axis_ranges))
        yield f"differing indices span {spans}"


def _oddities(d: Difference) -> Iterator[str]:
    if d.nan_a or d.nan_b or d.inf_a or d.inf_b:
        yield f"NaN {d.nan_a} against {d.nan_b}, Inf {d.inf_a} against {d.inf_b}"
    if d.negative_zero:
        yield _count(d.negative_zero, "element differs", "elements differ") + (
            " only in the sign of zero"
        )
    if d.implausible_a or d.implausible_b:
        yield (
            f"{d.implausible_a} against {d.implausible_b} values look like memory that nobody "
            "wrote (|v| >= 1e6 or denormal)"
        )
    if d.sign_flipped_rows:
        yield f"{d.sign_flipped_rows} / {d.rows} rows point the other way (cosine < -0.9)"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _index(index: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, index)) + ")"
