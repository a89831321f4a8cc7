"""Experiments: twins run again with one condition changed, to prove what made them diverge.

All knobs first: if the twins diverge still, none of them is it. Then the likeliest alone, with the
contrast: under all others instead, the twins must diverge. Where no single one is enough, the
smallest set. How often a pair is repeated follows from how often pairs diverged without any knob,
so that "equal" is not luck.
"""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bisect_debugger.causality.knobs import (
    KNOBS,
    Knob,
    alike,
    changes_words,
    in_order_for,
    knob_called,
    knobs_words,
)
from bisect_debugger.diagnosis import Diagnosis, diagnose
from bisect_debugger.diagnosis.model import Experiment, Origin, Verdict
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.driver.minimal import smallest
from bisect_debugger.driver.patience import OutOfTime, Stuck
from bisect_debugger.driver.refining import refined
from bisect_debugger.errors import BisectError
from bisect_debugger.format.words import step_words
from bisect_debugger.progress import ExperimentBegan, ExperimentEnded, Listener

CONFIDENCE = 0.95
"""How sure "equal with this knob" has to be, given how often pairs diverge without it."""

Run = Callable[[Path, tuple[str, ...]], Sequence[Path]]
"""Runs the trainer under knobs into a file; the files of its processes."""


@dataclass(slots=True)
class Bench:
    """Where experiments are made.

    Attributes:
        run: runs the trainer once; it ends the run at the deadline, or where it is stuck.
        folder: new folder for the runs, which are removed again.
        steps: steps that each run takes, so past the onset; None where they go to their end.
        repeats: pairs that must be equal under a knob.
        deadline: time on `time.monotonic` at which experiments end.
        done: what was found, by the set of knobs.
        told: hears each experiment as it begins and as it ends.
    """

    run: Run
    folder: Path
    steps: int | None
    repeats: int
    deadline: float
    told: Listener
    done: dict[frozenset[str], Experiment] = field(default_factory=dict)

    def holds(self, knobs: frozenset[str]) -> bool | None:
        """Twins are equal under these knobs; None where time ran out or the trainer failed."""
        found = self.done.get(knobs)
        if found is None:
            found = self._try(knobs)
        if found is None:
            return None
        if found.onset_steps:
            return False
        # Too few pairs for want of time say nothing.
        return True if found.pairs >= self.repeats else None

    def is_out_of_time(self) -> bool:
        """Experiments have ended."""
        return time.monotonic() >= self.deadline

    def _try(self, knobs: frozenset[str]) -> Experiment | None:
        if self.is_out_of_time():
            return None
        names = tuple(knob.name for knob in KNOBS if knob.name in knobs)
        shown = knobs_words(names) or "no knob"
        meaning = changes_words(names) or "nothing, as a control"
        self.told(ExperimentBegan(names, shown, meaning))
        try:
            found = self._made(names)
        except Stuck as error:
            self.told(ExperimentEnded(shown, f"the trainer is stuck: {error}"))
            return None
        except BisectError as error:
            words = f"the trainer does not run ({str(error).splitlines()[0]})"
            self.told(ExperimentEnded(shown, words))
            return None
        if not found.pairs:
            unfinished = "time ran out" if self.is_out_of_time() else "nothing can be said of it"
            self.told(ExperimentEnded(shown, unfinished))
            return None
        self.done[knobs] = found
        self.told(ExperimentEnded(shown, outcome_words(found, self.steps)))
        return found

    def _made(self, names: tuple[str, ...]) -> Experiment:
        """Pairs under these knobs, as many as are needed or as there is time for."""
        self.folder.mkdir(exist_ok=True)
        equal, onsets = 0, []
        try:
            first = self.run(self.folder / "first.h5", names)
            for number in range(self.repeats):
                if self.is_out_of_time():
                    break
                verdict, onset = self._pair(first, number, names)
                if verdict is Verdict.DIVERGED:
                    onsets.append(onset)
                    break
                # A pair of which nothing can be said is no pair.
                equal += verdict is Verdict.BIT_EQUAL
        except OutOfTime:
            # What the pairs before told stays; the one that was cut off tells nothing.
            pass
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return Experiment(names, equal + len(onsets), equal, tuple(onsets))

    def _pair(
        self, first: Sequence[Path], number: int, names: tuple[str, ...]
    ) -> tuple[Verdict, int]:
        """Whether another run differs from the first, in any process, and in which step."""
        other = self.run(self.folder / f"pair{number + 1}.h5", names)
        verdicts, onsets = {Verdict.BIT_EQUAL}, []
        if len(first) != len(other):
            verdicts.add(Verdict.INCONCLUSIVE)
        for mine, yours in zip(first, other, strict=False):
            diagnosis = diagnose([mine, yours])
            verdicts.add(diagnosis.verdict)
            if diagnosis.verdict is Verdict.DIVERGED:
                onsets.append(
                    diagnosis.onset.step if diagnosis.onset else diagnosis.compared.last_step
                )
            yours.unlink(missing_ok=True)
        gravest = max(verdicts, key=lambda verdict: verdict.gravity)
        return gravest, min(onsets, default=-1)


def repeats_for(diverged: int, pairs: int) -> int:
    """Equal pairs that make luck unlikely.

    Of ``pairs`` pairs without a knob ``diverged`` diverged. By Laplace's rule the next one does
    with (diverged + 1) / (pairs + 2); so many equal ones in a row are then luck at most one time
    in twenty.
    """
    rate = rate_of(diverged, pairs)
    return max(2, math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - rate)))


def rate_of(diverged: int, pairs: int) -> float:
    """How likely the next pair diverges, by Laplace's rule of succession."""
    return (diverged + 1) / (pairs + 2)


def luck_words(experiment: Experiment, baseline: Experiment) -> str:
    """How likely as many equal pairs are if the knob changes nothing."""
    rate = rate_of(len(baseline.onset_steps), baseline.pairs)
    luck = (1 - rate) ** experiment.equal_pairs
    return f"by luck alone that happens in {100 * luck:.2g} of 100 cases"


def outcome_words(experiment: Experiment, steps: int | None) -> str:
    """What came of an experiment, in words."""
    if experiment.onset_steps:
        return f"diverged at {step_words(experiment.onset_steps[0])}"
    end = "to their end" if steps is None else f"up to step {steps - 1}"
    return f"{experiment.equal_pairs} of {experiment.pairs} pairs equal {end}"


def explain(diagnosis: Diagnosis, bench: Bench, baseline: Experiment) -> Diagnosis:
    """Find the knobs that make the twins equal, and write down what they prove.

    Args:
        diagnosis: of twins that diverged.
        bench: where experiments are made.
        baseline: pairs without a knob.
    """
    causes = frozenset(origin.cause for origin in diagnosis.origins)
    others = frozenset(each.cause for origin in diagnosis.origins for each in origin.alternatives)
    order = in_order_for(causes, others)
    together = bench.holds(frozenset(order))
    # Where they cannot be tried together, one alone may prove it, with a control for a contrast.
    found = _found(order, bench) if together else _single(order, bench, together)
    equal_once = found is not None or _was_equal_alone(bench)
    needs_control = bool(baseline.equal_pairs) or not together
    still = (not needs_control or _still_diverges(bench)) if equal_once else None
    baseline = _with_control(baseline, bench)
    experiments = (baseline, *(made for knobs, made in bench.done.items() if knobs))
    diagnosis = replace(diagnosis, experiments=experiments)
    if together is False:
        return _remarked(
            diagnosis,
            "With all knobs on, the twins diverge still: none of the conditions that can be "
            "changed from outside is the cause alone. What none of them fixes: the order in which "
            "long-lived threads or other processes hand results over, memory addresses (id()), "
            "process ids, other programs.",
        )
    if still is False:
        return _remarked(diagnosis, _GONE)
    if found is None or still is None:
        return _remarked(diagnosis, _unfinished(bench))
    return _proven(diagnosis, found, bench, baseline)


def _found(order: Sequence[str], bench: Bench) -> frozenset[str] | None:
    """The knobs that are enough, and needed as well.

    What diverges at times only is soon equal by luck under one of many knobs. The one that takes
    the fault away shows in the contrast: with all others on, those aside that do the like, and it
    off, the twins diverge.
    """
    everything, held = frozenset(order), []
    for name in order:
        if not bench.holds(frozenset((name,))):
            continue
        held.append(name)
        if bench.holds(everything - alike(name)) is False:
            return frozenset((name,))
    if not held:
        return smallest(order, bench.holds)
    # Each of several may be enough. Then none of them is left, and the twins diverge.
    without = everything.difference(*map(alike, held))
    return frozenset(held[:1]) if without and bench.holds(without) is False else None


_GONE = (
    "Nothing is proven: under one of the knobs the twins are equal, but so are they now without "
    "any. What made the first ones differ was there once: a file that an earlier run left behind, "
    "a cache, another program; or it is rare, and more runs (--runs) tell how often it comes."
)


def _still_diverges(bench: Bench) -> bool | None:
    """Twins differ without a knob as they did; None where that could not be found out.

    Where a pair was equal, what made the others differ may be gone, and then they are equal under
    any knob as well.
    """
    held = bench.holds(frozenset())
    return None if held is None else not held


def _with_control(baseline: Experiment, bench: Bench) -> Experiment:
    """All pairs without a knob."""
    control = bench.done.get(frozenset())
    if control is None:
        return baseline
    return Experiment(
        (),
        baseline.pairs + control.pairs,
        baseline.equal_pairs + control.equal_pairs,
        (*baseline.onset_steps, *control.onset_steps),
    )


def _single(order: Sequence[str], bench: Bench, together: bool | None) -> frozenset[str] | None:
    """The first knob that is enough alone, where all together could not be tried."""
    alone = (frozenset((name,)) for name in order if together is None)
    return next((knobs for knobs in alone if bench.holds(knobs)), None)


def _was_equal_alone(bench: Bench) -> bool:
    """Under one of the knobs alone, twins were equal."""
    return any(len(found.knobs) == 1 and not found.onset_steps for found in bench.done.values())


def _unfinished(bench: Bench) -> str:
    if bench.is_out_of_time():
        return "The experiments are not finished: time ran out; give them more with --budget."
    if _was_equal_alone(bench):
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
    diagnosis: Diagnosis, found: frozenset[str], bench: Bench, baseline: Experiment
) -> Diagnosis:
    experiment = bench.done[found]
    knobs = [knob_called(name) for name in experiment.knobs]
    named = " and ".join(f"{knob.name} ({knob.meaning})" for knob in knobs)
    alone = "alone " if len(knobs) == 1 else "together "
    without = baseline.onset_steps[0] if baseline.onset_steps else 0
    sentence = (
        f"Proven: with {named} {alone}{outcome_words(experiment, bench.steps)}; without, "
        f"{len(baseline.onset_steps)} of {baseline.pairs} pairs diverge, at "
        f"{step_words(without)} ({luck_words(experiment, baseline)})."
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
        proven = _with_proof(origins[index], sentence, [knob.advice for knob in knobs])
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
