"""Where experiments are made: the trainer run again and again under knobs, and what came of it."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bisect_debugger.causality.knobs import KNOBS, changes_words, knobs_words
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Experiment, Verdict
from bisect_debugger.driver.patience import OutOfTime, Stuck
from bisect_debugger.errors import BisectError
from bisect_debugger.format.words import step_words
from bisect_debugger.progress import ExperimentBegan, ExperimentEnded, ExperimentsBegan, Listener

Run = Callable[[Path, tuple[str, ...]], Sequence[Path]]
"""Runs the trainer under knobs into a file; the files of its processes."""

ALL_KNOBS = tuple(knob.name for knob in KNOBS)


class TooShort(BisectError):
    """Runs are equal, and ended by themselves before they came to where they would differ."""

    def __init__(self, last: int, reaches: int) -> None:
        """Say where they ended.

        Args:
            last: the last step that both have.
            reaches: the step that they had to come to.
        """
        super().__init__(
            f"equal, but only up to {step_words(last)}, where the runs end; without a knob they "
            f"diverged at {step_words(reaches)}, so nothing can be said of it"
        )


@dataclass(slots=True)
class Bench:
    """Where experiments are made.

    Attributes:
        run: runs the trainer once; it ends the run at the deadline, or where it is stuck.
        folder: new folder for the runs, which are removed again.
        steps: steps that each run takes, so past the onset; None where they go to their end.
        reaches: last step in which twins diverged without a knob; equal runs that end before it
            have not come to where they would differ.
        repeats: pairs that must be equal under a knob.
        deadline: time on `time.monotonic` at which experiments end.
        told: hears each experiment as it begins and as it ends.
        knobs: those that can be turned here.
        began: how they were told to begin, or None; told again where more is known.
        done: what was found, by the set of knobs.
    """

    run: Run
    folder: Path
    steps: int | None
    reaches: int
    repeats: int
    deadline: float
    told: Listener
    knobs: tuple[str, ...] = ALL_KNOBS
    began: ExperimentsBegan | None = None
    done: dict[frozenset[str], Experiment] = field(default_factory=dict)
    until: dict[frozenset[str], int] = field(default_factory=dict)
    """The last step that all runs of an experiment had in common."""

    def require(self, repeats: int) -> None:
        """From now on so many pairs must be equal under a knob."""
        self.repeats = repeats
        if self.began is not None:
            self.told(replace(self.began, repeats=repeats))

    def holds(self, knobs: frozenset[str]) -> bool | None:
        """Twins are equal under these knobs; None where time ran out or the trainer failed."""
        if knobs not in self.done:
            self._try(knobs)
        return self.known(knobs)

    def known(self, knobs: frozenset[str]) -> bool | None:
        """The same, as far as it was tried."""
        found = self.done.get(knobs)
        if found is None:
            return None
        if found.onset_steps:
            return False
        # Too few pairs for want of time say nothing.
        return True if found.pairs >= self.repeats else None

    def is_out_of_time(self) -> bool:
        """Experiments have ended."""
        return time.monotonic() >= self.deadline

    def was_equal_alone(self) -> bool:
        """Under one of the knobs alone, twins were equal."""
        return any(len(found.knobs) == 1 and not found.onset_steps for found in self.done.values())

    def _try(self, knobs: frozenset[str]) -> None:
        if self.is_out_of_time():
            return
        names = tuple(knob.name for knob in KNOBS if knob.name in knobs)
        shown = knobs_words(names) or "no knob"
        meaning = changes_words(names) or "nothing, as a control"
        self.told(ExperimentBegan(names, shown, meaning))
        try:
            found = self._made(names)
        except Stuck as error:
            self.told(ExperimentEnded(shown, f"the trainer is stuck: {error}"))
            return
        except TooShort as error:
            self.told(ExperimentEnded(shown, str(error)))
            return
        except BisectError as error:
            words = f"the trainer does not run ({str(error).splitlines()[0]})"
            self.told(ExperimentEnded(shown, words))
            return
        if not found.pairs:
            unfinished = "time ran out" if self.is_out_of_time() else "nothing can be said of it"
            self.told(ExperimentEnded(shown, unfinished))
            return
        self.done[knobs] = found
        self.told(ExperimentEnded(shown, outcome_words(found, self.steps_of(knobs))))

    def steps_of(self, knobs: frozenset[str]) -> int | None:
        """Steps that runs under these knobs took: fewer than were asked for where they ended."""
        last = self.until.get(knobs)
        return self.steps if self.steps is None or last is None else min(self.steps, last + 1)

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
        """Whether another run differs from the first, in any process, and in which step.

        Raises:
            TooShort: it does not, because both ended before they could.
        """
        other = self.run(self.folder / f"pair{number + 1}.h5", names)
        verdicts, onsets, last = {Verdict.BIT_EQUAL}, [], -1
        if len(first) != len(other):
            verdicts.add(Verdict.INCONCLUSIVE)
        for mine, yours in zip(first, other, strict=False):
            diagnosis = diagnose([mine, yours])
            verdicts.add(diagnosis.verdict)
            last = max(last, diagnosis.compared.last_step)
            if diagnosis.verdict is Verdict.DIVERGED:
                onsets.append(
                    diagnosis.onset.step if diagnosis.onset else diagnosis.compared.last_step
                )
            yours.unlink(missing_ok=True)
        knobs = frozenset(names)
        self.until[knobs] = min(last, self.until.get(knobs, last))
        gravest = max(verdicts, key=lambda verdict: verdict.gravity)
        # Without a knob it is an equal pair all the same: they diverge the more rarely.
        if names and gravest is Verdict.BIT_EQUAL and last < self.reaches:
            raise TooShort(last, self.reaches)
        return gravest, min(onsets, default=-1)


def outcome_words(experiment: Experiment, steps: int | None) -> str:
    """What came of an experiment, in words."""
    if experiment.onset_steps:
        return f"diverged at {step_words(experiment.onset_steps[0])}"
    end = "to their end" if steps is None else f"up to step {steps - 1}"
    return f"{experiment.equal_pairs} of {experiment.pairs} pairs equal {end}"
