"""A difference in sentences, in the manner of torch.testing."""

from bisect_debugger.metrics.difference import (
    DIFFERENT_SEED_REL_FRO,
    SAME_SEED_REL_FRO,
    Difference,
)


def describe(difference: Difference) -> tuple[str, ...]:
    """What a person reads about a difference, most telling first."""
    d = difference
    lines = [
        f"{d.differing} of {d.elements} elements differ ({d.percent:.3g} %)",
        f"relFro {d.rel_fro:.3g}: {judge(d.rel_fro)}",
        f"greatest absolute difference {d.max_abs:.3g}, mean {d.mean_abs:.3g}",
    ]
    if d.max_ulp is not None:
        lines.append(f"greatest distance {d.max_ulp} ULP")
    index = f"index {_index(d.first_index)}" if d.shape else "the scalar"
    lines.append(
        f"first at {index}: {d.first_a.decimal} ({d.first_a.hex}) against {d.first_b.decimal} "
        f"({d.first_b.hex})"
    )
    if len(d.axis_ranges) > 0 and d.differing > 1:
        spans = ", ".join(f"axis {i}: {lo}..{hi}" for i, (lo, hi) in enumerate(d.axis_ranges))
        lines.append(f"differing indices span {spans}")
    if d.nan_a or d.nan_b or d.inf_a or d.inf_b:
        lines.append(f"NaN {d.nan_a} against {d.nan_b}, Inf {d.inf_a} against {d.inf_b}")
    if d.negative_zero:
        lines.append(f"{d.negative_zero} elements differ only in the sign of zero")
    if d.implausible_a or d.implausible_b:
        lines.append(
            f"{d.implausible_a} against {d.implausible_b} values look like memory that nobody "
            "wrote (|v| >= 1e6 or denormal)"
        )
    if d.sign_flipped_rows:
        lines.append(f"{d.sign_flipped_rows} of {d.rows} rows point the other way (cosine < -0.9)")
    return tuple(lines)


def judge(rel_fro: float) -> str:
    """What the size of a difference says about the two runs."""
    if rel_fro != rel_fro:
        return "no finite element is left to compare"
    if rel_fro <= SAME_SEED_REL_FRO:
        return f"the size of rounding (same seed: at most {SAME_SEED_REL_FRO:g})"
    if rel_fro >= DIFFERENT_SEED_REL_FRO:
        return f"the size of another draw (different seed: at least {DIFFERENT_SEED_REL_FRO:g})"
    return "between rounding and another draw"


def _index(index: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, index)) + ")"
