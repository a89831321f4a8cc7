"""The verdict in one sentence."""

from bisect_debugger.diagnosis.model import Compared, Diagnosis, Origin, Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words

_REORDERED = "A step holds the same contents in another order"
"""The one difference that no group of a step shows."""


def span_words(compared: Compared) -> str:
    """The compared steps: ``init to step 5``, or ``init and steps 3 to 5`` of a window."""
    first, last, start = compared.first_step, compared.last_step, compared.window_start
    if last <= first:
        return step_words(last)
    if start is None or start <= first:
        return f"{step_words(first)} to step {last}"
    return f"{step_words(first)} and " + (
        f"step {last}" if start == last else f"steps {start} to {last}"
    )


def sentence_of(diagnosis: Diagnosis, why: str = "") -> str:
    """What a person reads first; names are escaped, nothing is said past the last step.

    Args:
        diagnosis: all but its sentence.
        why: why they diverged, where the origins do not tell; or the whole sentence, where the
            steps say nothing.
    """
    compared = diagnosis.compared
    span = span_words(compared)
    if diagnosis.verdict is Verdict.BIT_EQUAL:
        sentence = f"Bit-equal: all {compared.events} events from {span} have the same bits"
        if not compared.events:
            sentence = f"Bit-equal: every group has the same digest in each step, from {span}"
        if diagnosis.dormant_streams:
            streams = ", ".join(printable(origin.component) for origin in diagnosis.dormant_streams)
            verb = "differs" if len(diagnosis.dormant_streams) == 1 else "differ"
            sentence += f" but those of {streams}, which {verb} without reaching the training"
        return sentence + "."
    if diagnosis.verdict is Verdict.WITHIN_TOLERANCE:
        return f"Within tolerance from {span}, but not bit-equal.{_first(diagnosis)}"
    if diagnosis.verdict is Verdict.INCONCLUSIVE and why:
        return why
    if diagnosis.verdict is Verdict.INCONCLUSIVE and diagnosis.onset is None:
        ended = "one of them ended early; what it would have done is not known."
        if not any(run.complete for run in diagnosis.runs):
            ended = "both ended early; what they would have done is not known."
        return (
            f"Inconclusive: everything that both runs recorded from {span} is equal, and then "
            f"{ended}"
        )
    if diagnosis.verdict is Verdict.INCONCLUSIVE:
        return (
            "Inconclusive: the runs differ, and the values needed to judge the tolerance were not "
            f"recorded.{_first(diagnosis)}"
        )
    if diagnosis.onset is None:
        return f"Diverged. {why or _REORDERED}."
    beyond = f" {why}." if why else ""
    return f"Diverged.{beyond}{_first(diagnosis)}"


def origin_words(origin: Origin) -> str:
    """One origin in a clause: component, cause, where it began, whether it slept."""
    words = f"{printable(origin.component)} ({origin.cause.value}, {step_words(origin.step)}"
    if origin.dormant and origin.first_reached is not None:
        reached = origin.first_reached
        words += (
            f", dormant until step {reached.step}, when it reached {printable(reached.component)}"
        )
    elif origin.dormant:
        words += ", dormant: it reached no other component"
    return words + ")"


def _first(diagnosis: Diagnosis) -> str:
    origins, onset = diagnosis.origins, diagnosis.onset
    if onset is None:
        return ""
    if origins:
        count = "1 origin" if len(origins) == 1 else f"{len(origins)} independent origins"
        listed = "; ".join(origin_words(origin) for origin in origins[:3])
        more = f"; and {len(origins) - 3} more" if len(origins) > 3 else ""
        return f" {count}: {listed}{more}."
    words = f" First difference in {step_words(onset.step)}, group {onset.group.label}"
    return words + ("." if onset.buffer else "; buffers were not recorded.")
