"""What the ends of two runs say where all that both did is equal, or within a tolerance."""

from bisect_debugger.diagnosis.judged import Judged
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair

_GOES_ON = "One run goes on after the other ended; all common steps are {}"
_CUT_OFF = (
    "Inconclusive: all common steps are {}, and then a run ended early; what it would have done is "
    "not known."
)


def judged_by_ends(pair: Pair, so_far: Verdict) -> Judged:
    """Judge runs of which no common step diverges.

    Args:
        pair: the twins.
        so_far: how these steps are, BIT_EQUAL or WITHIN_TOLERANCE.
    """
    ends = _verdict_of_ends(pair)
    is_equal = so_far is Verdict.BIT_EQUAL
    common = "equal" if is_equal else "within the tolerance"
    match ends:
        case Verdict.DIVERGED:
            return Judged(ends, _GOES_ON.format(common))
        case Verdict.INCONCLUSIVE:
            # Of equal runs the sentence says how far they are.
            return Judged(ends, "" if is_equal else _CUT_OFF.format(common))
    return Judged(so_far)


def _verdict_of_ends(pair: Pair) -> Verdict:
    """What the ends alone say: BIT_EQUAL where they take nothing back.

    Equal as far as both go is equal only where nobody knows that one of them would have gone on,
    or has stopped, otherwise.
    """
    runs = (pair.a, pair.b)
    facts = [run.facts for run in runs]
    same_window = facts[0].window == facts[1].window
    if all(each.ended_by_itself for each in facts):
        # As many rows are not as many steps: the last one may be closed in one run alone.
        same = not same_window or _reached(runs[0]) == _reached(runs[1])
        return Verdict.BIT_EQUAL if same else Verdict.DIVERGED
    if any(each.recording_failed for each in facts) and not any(each.complete for each in facts):
        # What the training did after the last recorded step is not known of any of them.
        return Verdict.INCONCLUSIVE
    reached = [_reached(run) for run in runs]
    if reached[0] == reached[1] or all(each.killed for each in facts):
        # Two processes that somebody killed say nothing about where each would have ended.
        return Verdict.BIT_EQUAL
    shorter = runs[reached.index(min(reached))].facts
    if shorter.stopped:
        return Verdict.BIT_EQUAL
    if shorter.ended_by_itself and same_window:
        return Verdict.DIVERGED
    return Verdict.INCONCLUSIVE


def _reached(run: Run) -> tuple[int, bool]:
    """The last step, and whether it was closed: of an open one the run did only a part."""
    return run.last_step, bool(run.step_count) and run.is_closed(run.last_step)
