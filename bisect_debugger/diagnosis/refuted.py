"""What experiments refuted is no longer said: advice that was followed in vain, and guesses."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.knobs import KNOBS
from bisect_debugger.causality.refuting import GUESSED, knobs_that_follow
from bisect_debugger.diagnosis.model import Diagnosis, Experiment, Origin
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.format.words import step_words

NOTHING_LEFT = (
    "What is usually behind this cause was tried and is not it. No knob changes process ids, the "
    "order in which long-lived threads or other processes hand results over, and what other "
    "programs do: look for these."
)


def without_refuted(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis without what its experiments refuted; what they refuted stands as evidence.

    Of several origins an experiment does not tell which one made the twins diverge still, so
    nothing is taken back there unless one knob made all of them vanish.

    Args:
        diagnosis: with its experiments.
    """
    settled = len(diagnosis.origins) == 1 or all(origin.proven for origin in diagnosis.origins)
    if not settled or diagnosis.onset is None:
        return diagnosis
    enough = [set(each.knobs) for each in diagnosis.experiments if each.knobs and _is_equal(each)]
    is_proven = all(origin.proven for origin in diagnosis.origins)
    needed = min(enough, key=len) if enough and is_proven else set()
    vain = [
        each
        for each in diagnosis.experiments
        if each.knobs and each.onset_steps and min(each.onset_steps) <= diagnosis.onset.step
        # One of several knobs that are needed together is not refuted by what it does alone.
        if not set(each.knobs) < needed
    ]
    if not vain:
        return diagnosis
    return with_origins(diagnosis, [_left(origin, vain) for origin in diagnosis.origins])


def _is_equal(experiment: Experiment) -> bool:
    return 0 < experiment.pairs == experiment.equal_pairs


def _left(origin: Origin, vain: Sequence[Experiment]) -> Origin:
    words: dict[str, None] = {}

    def is_refuted(cause: Cause) -> bool:
        return _in_vain(GUESSED.get(cause, frozenset()), vain) is not None

    if is_refuted(origin.cause) and not origin.proven:
        _note(words, GUESSED[origin.cause], vain)
        origin = _with_next(origin, is_refuted)
    for each in origin.alternatives:
        if is_refuted(each.cause):
            _note(words, GUESSED[each.cause], vain)
    kept = []
    for line in origin.advice:
        knobs = knobs_that_follow(line)
        if _in_vain(knobs, vain) is None:
            kept.append(line)
        else:
            _note(words, knobs, vain)
    if not words:
        return origin
    # Of what is proven the proof stands first, and of what is not, what it is not.
    lines = (*origin.evidence, *words) if origin.proven else (*words, *origin.evidence)
    return replace(
        origin,
        advice=tuple(kept) or (NOTHING_LEFT,),
        evidence=tuple(dict.fromkeys(lines)),
        alternatives=tuple(each for each in origin.alternatives if not is_refuted(each.cause)),
    )


def _with_next(origin: Origin, is_refuted: Callable[[Cause], bool]) -> Origin:
    """The likeliest cause that is not refuted; where there is none, that it is not known."""
    others = (each.cause for each in origin.alternatives if not is_refuted(each.cause))
    return with_cause(origin, next(others, Cause.UNEXPLAINED))


def _in_vain(knobs: frozenset[str], vain: Sequence[Experiment]) -> Experiment | None:
    """The experiment with the fewest knobs that had all of these on and changed nothing."""
    if not knobs:
        return None
    found = [each for each in vain if knobs <= set(each.knobs)]
    return min(found, key=lambda each: len(each.knobs), default=None)


def _note(words: dict[str, None], knobs: frozenset[str], vain: Sequence[Experiment]) -> None:
    found = _in_vain(knobs, vain)
    assert found is not None, "only what was refuted is noted"
    tried = [knob for knob in KNOBS if knob.name in knobs]
    named = " and ".join(f"{knob.name} ({knob.meaning})" for knob in tried)
    beside = "" if len(found.knobs) == len(tried) else ", and others beside,"
    step = step_words(min(found.onset_steps))
    words[f"Refuted: with {named}{beside} the twins diverge still, in {step}."] = None
