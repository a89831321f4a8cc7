"""Whether differing twins are still the same run within a tolerance that was asked for."""

from bisect_debugger.causality.walk import is_of_training
from bisect_debugger.diagnosis.judged import Judged
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.twins import Pair, Row, Status


def within_tolerance(pair: Pair, start: int, tolerance: float) -> Judged:
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
            if not is_of_training(row) or row.status is Status.EQUAL:
                continue
            if row.a is None or row.b is None or row.a.layout != row.b.layout:
                return _beyond(row, "has no counterpart of its shape")
            difference = pair.difference(row)
            if difference is None:
                unrecorded = True
            elif difference.one_sided_nonfinite:
                return _beyond(row, "holds NaN or Inf in one run only")
            elif not difference.rel_fro <= tolerance:
                return _beyond(
                    row, f"has relFro {difference.rel_fro:.3g}, more than the {tolerance:g} allowed"
                )
    return Judged(Verdict.INCONCLUSIVE if unrecorded else Verdict.WITHIN_TOLERANCE)


def _beyond(row: Row, what: str) -> Judged:
    return Judged(Verdict.DIVERGED, f"{printable(row.name)} in {step_words(row.step)} {what}")
