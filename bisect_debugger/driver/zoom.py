"""Which steps a second pass zooms into, and whether it met the same fault there."""

from bisect_debugger.diagnosis.model import Diagnosis
from bisect_debugger.errors import printable
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.format.words import step_words
from bisect_debugger.report.zoom import operator_words

MOST_STEPS = 3
"""Steps of which operators are recorded: those of the first origins."""

SHORT = 12
"""Where a second pass has so few steps, operators of all are recorded: an onset may move."""


def zoom_steps(diagnosis: Diagnosis, end: int) -> tuple[int, ...]:
    """Steps in which origins began, and in which what they were drawn for arrived.

    Args:
        diagnosis: of the first pass.
        end: one past the last step of the second.
    """
    steps: dict[int, None] = {}
    for origin in diagnosis.origins:
        steps.setdefault(origin.step)
        if origin.first_reached is not None and origin.step <= 0:
            steps.setdefault(origin.first_reached.step)
    if not steps and diagnosis.onset is not None:
        steps.setdefault(diagnosis.onset.step)
    chosen = set(list(steps)[:MOST_STEPS])
    if end <= SHORT:
        chosen |= set(range(end))
    # What a program does between init and its first forward belongs to either.
    if chosen & {INIT_STEP, 0}:
        chosen |= {INIT_STEP, 0}
    return tuple(sorted(chosen))


def moved_words(second: Diagnosis) -> str:
    """Where a second pass that diverged in another step than the first saw it begin."""
    origin = second.origins[0] if second.origins else None
    words = operator_words(origin) if origin is not None else ""
    if origin is None or not words:
        return "No operator can be named."
    return (
        f"In the second pass it began in {printable(origin.component)}, {step_words(origin.step)}: "
        f"{words}."
    )


def is_met_again(first: Diagnosis, second: Diagnosis) -> bool:
    """The second pass met the first one's fault in the same buffer, in whatever step."""
    if not first.origins or not second.origins:
        return False
    before, now = first.origins[0], second.origins[0]
    return (before.group, before.buffer) == (now.group, now.buffer)


def elsewhere_words(first: Diagnosis, second: Diagnosis) -> str:
    """That the second pass met another fault than the first, or empty."""
    if not first.origins or not second.origins:
        return ""
    before = {(origin.component, origin.step) for origin in first.origins}
    now = second.origins[0]
    if (now.component, now.step) in before:
        return ""
    return (
        f"The second pass diverged elsewhere: in {printable(now.component)} "
        f"({step_words(now.step)}), and not in {printable(first.origins[0].component)} "
        f"({step_words(first.origins[0].step)}) as the first pass did. What is said below is about "
        "the second."
    )
