"""The trail: the search as it was walked, and then the tree for the first origin."""

from bisect_debugger.causality.walk import WalkResult
from bisect_debugger.diagnosis.model import Diagnosis, Origin, TrailStep
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.twins import Pair

FORK = "origins"
"""Node of the search at which every origin takes its own way through the tree."""

CONCLUSION = "cause"
"""Node at which the way of an origin ends."""


def search_trail(
    pair: Pair, walk: WalkResult, diagnosis: Diagnosis, training: int | None
) -> tuple[TrailStep, ...]:
    """Questions, evidence and answers from "were both recorded" to the cause.

    Args:
        pair: the twins.
        walk: what the walk found.
        diagnosis: all but its trail and its sentence.
        training: the first common row in which training differs, or None.
    """
    trail = [_completeness(pair), _first_step(pair, diagnosis, training)]
    if diagnosis.onset is None:
        return tuple(trail)
    if diagnosis.onset.buffer:
        onset = diagnosis.onset
        trail.append(
            TrailStep(
                "Which event differs first, in execution order?",
                f"event {onset.event} of {step_words(onset.step)}, group {onset.group.label}",
                printable(onset.buffer),
                "first-event",
            )
        )
        trail.append(_origins(walk, diagnosis))
    for origin in diagnosis.origins[:1]:
        trail += (*origin.trail, conclusion_of(origin))
    return tuple(trail)


def conclusion_of(origin: Origin) -> TrailStep:
    """Where the way of an origin ended: in its cause, as it is known now."""
    return TrailStep(
        f"What kind of fault is {printable(origin.component)}?",
        origin.evidence[0] if origin.evidence else "",
        origin.cause.value,
        CONCLUSION,
    )


def _completeness(pair: Pair) -> TrailStep:
    facts = [run.facts for run in (pair.a, pair.b)]
    evidence = "; ".join(
        f"{printable(str(run.path))}: last whole step {run.last_closed_step}"
        + (f", {printable(run.facts.end_reason)}" if run.facts.end_reason else "")
        for run in (pair.a, pair.b)
    )
    answer = "no"
    if all(each.complete for each in facts):
        answer = "as far as asked" if any(each.stopped for each in facts) else "yes"
    return TrailStep("Were both runs recorded to their end?", evidence, answer, "complete")


def _first_step(pair: Pair, diagnosis: Diagnosis, training: int | None) -> TrailStep:
    question = "Which step differs first?"
    evidence = f"binary search over the running digests of {pair.step_count} steps"
    if diagnosis.onset is not None:
        return TrailStep(question, evidence, step_words(diagnosis.onset.step), "first-step")
    # Where a run stopped within a step, all that it had done of it may be equal.
    if training is None or training == pair.stopped_row:
        return TrailStep(question, evidence, "none of them in training", "first-step")
    return TrailStep(question, evidence, step_words(pair.step_number(training)), "first-step")


def _origins(walk: WalkResult, diagnosis: Diagnosis) -> TrailStep:
    names = ", ".join(printable(origin.component) for origin in diagnosis.origins)
    return TrailStep(
        "Which differences are not explained by anything they were computed from?",
        f"{walk.differing} differing events in {walk.steps_walked} differing steps, the rest are "
        "carriers",
        f"{len(diagnosis.origins)}: {names}",
        FORK,
    )
