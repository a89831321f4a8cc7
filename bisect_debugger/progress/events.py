"""Events of runs as they go on; plain narration and the live screen listen to the same ones.

Times are seconds on `time.monotonic`, read by who tells the event, so that whatever is made from
events is a function of them alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Phase(StrEnum):
    """What a run is there for."""

    RECORDED = "recorded"
    COMPARED = "compared"
    VALUES = "second pass"
    EXPERIMENT = "experiment"
    ISOLATION = "isolation"
    ALONE = "alone"
    CONTROL = "control"

    @property
    def meaning(self) -> str:
        """What happens in it, a clause."""
        return {
            Phase.RECORDED: "recorded, to compare others with",
            Phase.COMPARED: "compared with run 1 as it goes",
            Phase.VALUES: "keeps the values around the first difference",
            Phase.EXPERIMENT: "runs again with one condition changed",
            Phase.ISOLATION: "takes the culprit out, which is then executed alone",
            Phase.ALONE: "executes the culprit by itself, again and again",
            Phase.CONTROL: "another seed, which has to diverge",
        }[self]

    @property
    def is_narrated(self) -> bool:
        """Its runs are told one by one; of the others only what they lead to."""
        return self not in (Phase.EXPERIMENT, Phase.ALONE)


@dataclass(frozen=True, slots=True)
class TwinsBegan:
    """Runs of one command are about to begin.

    Attributes:
        command: program and arguments.
        folder: where the runs go.
        runs: how many are compared.
    """

    command: tuple[str, ...]
    folder: Path
    runs: int


@dataclass(frozen=True, slots=True)
class RunBegan:
    """A trainer is started.

    Attributes:
        title: e.g. ``run 1 of 2``.
        phase: what the run is there for.
        expected: steps that it will take, or None where nobody knows.
        at: when.
    """

    title: str
    phase: Phase
    expected: int | None
    at: float


@dataclass(frozen=True, slots=True)
class RunAdvanced:
    """The trainer closed more steps.

    Attributes:
        step: the last one closed.
        size: bytes of the run's file.
        digests: events whose digest was recorded so far; 0 at level ``coarse``.
        compared: digests of groups that were held against the first run's so far.
        at: when.
        process: which one of several, e.g. ``rank 1``; empty where one trains.
    """

    step: int
    size: int
    digests: int
    compared: int
    at: float
    process: str = ""


@dataclass(frozen=True, slots=True)
class StillRunning:
    """The trainer runs, and there is no news of its steps."""

    at: float


@dataclass(frozen=True, slots=True)
class OnsetSeen:
    """The run that goes on differs from the first one, since this step.

    Attributes:
        step: the first one that differs.
        process: in which of several processes, as in `RunAdvanced`.
    """

    step: int
    process: str = ""


@dataclass(frozen=True, slots=True)
class TrainerSaid:
    """Bytes of the trainer's stdout or stderr, as they came."""

    piece: bytes


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A trainer has ended.

    Attributes:
        title: of its `RunBegan`.
        phase: of its `RunBegan`.
        words: how it ended, a clause.
        seconds: how long it ran.
        last_step: the last step closed, or None where the run is not whole.
    """

    title: str
    phase: Phase
    words: str
    seconds: float
    last_step: int | None


@dataclass(frozen=True, slots=True)
class Judging:
    """Whole runs are compared; no trainer runs meanwhile.

    Attributes:
        what: what is compared, a clause.
    """

    what: str


@dataclass(frozen=True, slots=True)
class ExperimentsBegan:
    """Twins will be run again under changed conditions.

    Attributes:
        budget: seconds after which no further run is begun.
        repeats: pairs that have to be equal under a condition.
        at: when.
    """

    budget: float
    repeats: int
    at: float


@dataclass(frozen=True, slots=True)
class ExperimentBegan:
    """One set of knobs is tried.

    Attributes:
        knobs: their names.
        shown: the set in a word or two.
        meaning: what is changed, a clause.
    """

    knobs: tuple[str, ...]
    shown: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ExperimentEnded:
    """What came of a set of knobs.

    Attributes:
        shown: the set in a word or two.
        words: the result, a clause.
    """

    shown: str
    words: str


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence for a person."""

    words: str


Event = (
    TwinsBegan
    | RunBegan
    | RunAdvanced
    | StillRunning
    | OnsetSeen
    | TrainerSaid
    | RunEnded
    | Judging
    | ExperimentsBegan
    | ExperimentBegan
    | ExperimentEnded
    | Told
)

Listener = Callable[[Event], None]
"""Takes events in order. It is called from the driver's thread and from the one that reads the
trainer's output, and must not keep either waiting."""
