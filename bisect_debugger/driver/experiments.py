"""Experiments: twins run again with one condition changed, to prove what made them diverge.

Without a knob first: twins that are equal now prove nothing under any. Then all knobs: if the twins
diverge still, none of them is it. Then the likeliest alone, with the contrast: under all others
instead, the twins must diverge. Where no single one is enough, the smallest set, with its contrast.
How often a pair is repeated follows from how often pairs diverged without any knob, so that "equal"
is not luck.
"""

from collections.abc import Sequence
from dataclasses import replace

from bisect_debugger.causality.knobs import Knob, alike, in_order_for, knob_called
from bisect_debugger.diagnosis import Diagnosis
from bisect_debugger.diagnosis.model import Origin
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.diagnosis.refuted import without_refuted
from bisect_debugger.driver import addresses
from bisect_debugger.driver.bench import Bench, outcome_words
from bisect_debugger.driver.luck import Baseline, luck_words
from bisect_debugger.driver.minimal import smallest
from bisect_debugger.driver.refining import refined
from bisect_debugger.format.words import step_words

_GONE = (
    "Nothing is proven: twins are equal now without any knob. What made the first ones differ was "
    "there once: a file that an earlier run left behind, a cache, another program; or it is rare, "
    "and more runs (--runs) tell how often it comes."
)


def explain(diagnosis: Diagnosis, bench: Bench, baseline: Baseline) -> Diagnosis:
    """Find the knobs that make the twins equal, and write down what they prove and refute.

    Args:
        diagnosis: of twins that diverged.
        bench: where experiments are made.
        baseline: pairs without a knob.
    """
    return without_refuted(_tried(diagnosis, bench, baseline))


def _tried(diagnosis: Diagnosis, bench: Bench, baseline: Baseline) -> Diagnosis:
    # What made the first ones differ may be gone, and then they are equal under any knob as well.
    gone = bench.holds(frozenset())
    control = bench.done.get(frozenset())
    if control is not None:
        baseline = baseline.with_control(control)
        bench.require(baseline.repeats)
    if gone is not False:
        return _remarked(_with(diagnosis, bench, baseline), _GONE if gone else _unsure(bench))
    order = _likeliest_first(diagnosis, bench)
    left_out: tuple[str, ...] = ()
    together = bench.holds(frozenset(order))
    found = None if together is False else _found(order, bench, bool(together))
    if found is None and together is None and not bench.is_out_of_time():
        # The contrast may have failed of what all knobs failed of.
        order, left_out = _that_run(order, bench)
        together = bench.holds(frozenset(order))
        found = None if together is False else _found(order, bench, bool(together))
    diagnosis = _with(diagnosis, bench, baseline)
    if together is False:
        return _remarked(diagnosis, _none_of_them(bench, left_out))
    if found is None:
        return _remarked(diagnosis, _unfinished(bench))
    return _proven(diagnosis, found, bench, baseline)


def _with(diagnosis: Diagnosis, bench: Bench, baseline: Baseline) -> Diagnosis:
    """The diagnosis with all experiments, the pairs without a knob first."""
    made = (each for knobs, each in bench.done.items() if knobs)
    return replace(diagnosis, experiments=(baseline.told, *made))


def _likeliest_first(diagnosis: Diagnosis, bench: Bench) -> tuple[str, ...]:
    causes = frozenset(origin.cause for origin in diagnosis.origins)
    others = frozenset(each.cause for origin in diagnosis.origins for each in origin.alternatives)
    return tuple(name for name in in_order_for(causes, others) if name in bench.knobs)


def _that_run(order: Sequence[str], bench: Bench) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Knobs under which the trainer runs, each alone, and those under which it does not."""
    run = tuple(name for name in order if bench.holds(frozenset((name,))) is not None)
    return run, tuple(name for name in order if name not in run)


def _found(order: Sequence[str], bench: Bench, together: bool) -> frozenset[str] | None:
    """The knobs that are enough, and needed as well.

    What diverges at times only is soon equal by luck under one of many knobs. The one that takes
    the fault away shows in the contrast: with all others on, those aside that do the like, and it
    off, the twins diverge.

    Args:
        order: of the knobs, likeliest first.
        bench: where they are tried.
        together: all of them make the twins equal, so that a smallest set can be looked for; else
            it is not known.
    """
    held: list[str] = []
    for name in order:
        contrast = _contrast((name,), order)
        # Where the others are known to be enough as well, it could not be told from them.
        if bench.known(contrast) or not bench.holds(frozenset((name,))):
            continue
        if _differs(contrast, bench):
            return frozenset((name,))
        held.append(name)
        # Each of several may be enough. Then none of them is left, and the twins diverge.
        if len(held) > 1 and _differs(_contrast(held, order), bench):
            return frozenset(held[:1])
    several = smallest(order, bench.holds) if together and not held else None
    return several if several and _differs(_contrast(sorted(several), order), bench) else None


def _contrast(names: Sequence[str], order: Sequence[str]) -> frozenset[str]:
    """All others, those aside that do the like."""
    return frozenset(order).difference(*map(alike, names))


def _differs(contrast: frozenset[str], bench: Bench) -> bool:
    """Under these the twins diverge; under none at all it is no contrast."""
    return bool(contrast) and bench.holds(contrast) is False


def _none_of_them(bench: Bench, left_out: Sequence[str]) -> str:
    but = f" under which the trainer runs (without {', '.join(left_out)})" if left_out else ""
    random = "" if addresses.KNOB in bench.knobs else "memory addresses (id()), "
    return (
        f"With all knobs on{but}, the twins diverge still: none of the conditions that can be "
        "changed from outside is the cause alone. What none of them fixes: the order in which "
        f"long-lived threads or other processes hand results over, {random}process ids, other "
        "programs."
    )


def _unsure(bench: Bench) -> str:
    """Not even without a knob."""
    if bench.is_out_of_time():
        return _unfinished(bench)
    return (
        "Nothing was tried: run again without any knob, the trainer did not run to its end, or its "
        "runs could not be compared. Does it leave something behind that is in the way of the next?"
    )


def _unfinished(bench: Bench) -> str:
    if bench.is_out_of_time():
        return "The experiments are not finished: time ran out; give them more with --budget."
    if bench.was_equal_alone():
        return (
            "Nothing is proven: the twins diverge too seldom. With a knob they were equal, and "
            "with all the others instead of it as well; more runs (--runs) tell how often they "
            "diverge."
        )
    return (
        "The experiments are not finished: under some of the knobs the trainer does not run to "
        "its end, or its runs cannot be compared to theirs."
    )


def _proven(
    diagnosis: Diagnosis, found: frozenset[str], bench: Bench, baseline: Baseline
) -> Diagnosis:
    experiment, without = bench.done[found], baseline.told
    knobs = [knob_called(name) for name in experiment.knobs]
    named = " and ".join(f"{knob.name} ({knob.meaning})" for knob in knobs)
    alone = "alone " if len(knobs) == 1 else "together "
    ends = sorted(set(without.onset_steps))
    later = " or later" if len(ends) > 1 else ""
    where = f"at {step_words(ends[0])}{later}" if diagnosis.onset else "where one of them ends"
    sentence = (
        f"Proven: with {named} {alone}{outcome_words(experiment, bench.steps_of(found))}; without, "
        f"{len(without.onset_steps)} of {without.pairs} pairs diverge, "
        f"{where} ({luck_words(experiment, baseline)})."
    )
    spoken_for = [
        index
        for index, origin in enumerate(diagnosis.origins)
        if len(diagnosis.origins) == 1 or any(origin.cause in knob.causes for knob in knobs)
    ]
    if len(knobs) == 1:
        # Nothing is left with it, so every origin was owed to what it changes.
        spoken_for = list(range(len(diagnosis.origins)))
    origins = list(diagnosis.origins)
    for index in spoken_for:
        # Of several knobs, those that speak for the cause are about this origin.
        its = [knob for knob in knobs if origins[index].cause in knob.causes] or knobs
        proven = _with_proof(origins[index], sentence, [knob.advice for knob in its])
        origins[index] = _refined(proven, knobs[0]) if len(knobs) == 1 else proven
    diagnosis = with_origins(diagnosis, origins)
    return diagnosis if spoken_for else _remarked(diagnosis, sentence)


def _with_proof(origin: Origin, sentence: str, advice: Sequence[str]) -> Origin:
    return replace(
        origin,
        proven=True,
        evidence=(sentence, *origin.evidence),
        advice=(*advice, *(line for line in origin.advice if line not in advice)),
    )


def _refined(origin: Origin, knob: Knob) -> Origin:
    """The origin with the cause that the proof speaks for."""
    return with_cause(origin, refined(origin.cause, origin.group, knob.name), (knob.advice,))


def _remarked(diagnosis: Diagnosis, remark: str) -> Diagnosis:
    return replace(diagnosis, remarks=(remark, *diagnosis.remarks))
