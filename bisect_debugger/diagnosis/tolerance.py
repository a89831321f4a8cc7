"""Whether differing twins are still the same run within a tolerance that was asked for."""

from bisect_debugger.causality.walk import OUTSIDE_TRAINING
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.twins import Pair, Status


def within_tolerance(pair: Pair, start: int, tolerance: float) -> Verdict:
    """Judge every differing event from a common row on.

    Args:
        pair: the twins.
        start: first common row that differs.
        tolerance: largest relFro that counts as the same.

    Returns:
        WITHIN_TOLERANCE, DIVERGED, or INCONCLUSIVE where values were not recorded.
    """
    unrecorded = False
    for common_row in pair.different_rows(start):
        rows = pair.rows(common_row)
        if not rows:
            unrecorded = True
        for row in rows:
            if row.group in OUTSIDE_TRAINING or row.status is Status.EQUAL:
                continue
            if row.a is None or row.b is None or row.a.layout != row.b.layout:
                return Verdict.DIVERGED
            difference = pair.difference(row)
            if difference is None:
                unrecorded = True
            elif not difference.rel_fro <= tolerance or difference.one_sided_nonfinite:
                return Verdict.DIVERGED
    return Verdict.INCONCLUSIVE if unrecorded else Verdict.WITHIN_TOLERANCE
