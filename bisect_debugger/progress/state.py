"""All runs and experiments of a `twin` as they go: a fold over the events."""

from dataclasses import dataclass, replace
from pathlib import Path

from bisect_debugger.progress.events import (
    Event,
    ExperimentBegan,
    ExperimentEnded,
    ExperimentsBegan,
    Judging,
    Phase,
    RunBegan,
    Told,
    TwinsBegan,
)
from bisect_debugger.progress.run import RunView


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """One set of knobs.

    Attributes:
        began: which knobs, and what they change.
        words: what came of it, or empty while it is tried.
    """

    began: ExperimentBegan
    words: str = ""


@dataclass(frozen=True, slots=True)
class TwinsView:
    """What is known so far.

    Attributes:
        began: command and folder, or None before they are known.
        runs: all but those of experiments, in order.
        trial: the run of an experiment that goes on or ended last, or None.
        experiments: sets of knobs that were tried, in order.
        bench: budget of the experiments, or None where there are none.
        judging: what is compared while no trainer runs, or empty.
        told: the sentence that was told last.
    """

    began: TwinsBegan | None = None
    runs: tuple[RunView, ...] = ()
    trial: RunView | None = None
    experiments: tuple[ExperimentView, ...] = ()
    bench: ExperimentsBegan | None = None
    judging: str = ""
    told: str = ""

    def after(self, event: Event) -> "TwinsView":
        """What is known after one more event."""
        match event:
            case TwinsBegan():
                return replace(self, began=event)
            case RunBegan() if event.phase is Phase.EXPERIMENT:
                return replace(self, trial=RunView(event), judging="")
            case RunBegan():
                return replace(self, runs=(*self.runs, RunView(event)), judging="")
            case Judging():
                return replace(self, judging=event.what)
            case ExperimentsBegan():
                return replace(self, bench=event, judging="")
            case ExperimentBegan():
                return replace(self, experiments=(*self.experiments, ExperimentView(event)))
            case ExperimentEnded():
                return replace(self, experiments=self._with_result(event))
            case Told():
                return replace(self, told=event.words)
        return self._with_news(event)

    @property
    def running(self) -> RunView | None:
        """The run that goes on, or None."""
        newest = (*((self.trial,) if self.trial else ()), *self.runs[-1:])
        return next((run for run in newest if run.ended is None), None)

    def _with_news(self, event: Event) -> "TwinsView":
        if self.trial is not None and self.trial.ended is None:
            return replace(self, trial=self.trial.after(event))
        if self.runs and self.runs[-1].ended is None:
            return replace(self, runs=(*self.runs[:-1], self.runs[-1].after(event)))
        return self

    def _with_result(self, event: ExperimentEnded) -> tuple[ExperimentView, ...]:
        return tuple(
            replace(tried, words=event.words)
            if tried.began.shown == event.shown and not tried.words
            else tried
            for tried in self.experiments
        )

    @property
    def folder(self) -> Path | None:
        """Where the runs go, or None before it is known."""
        return self.began.folder if self.began is not None else None
