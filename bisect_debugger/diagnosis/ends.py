"""What the ends of two runs say where all that both did is equal."""

from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair


def verdict_of_ends(pair: Pair) -> Verdict:
    """Judge runs whose common steps are equal.

    Equal as far as both go is equal only where nobody knows that one of them would have gone on,
    or has stopped, otherwise.
    """
    runs = (pair.a, pair.b)
    facts = [run.facts for run in runs]
    same_window = facts[0].window == facts[1].window
    if all(each.ended_by_itself for each in facts):
        same = not same_window or runs[0].step_count == runs[1].step_count
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
