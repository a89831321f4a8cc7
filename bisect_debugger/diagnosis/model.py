"""The diagnosis: the frozen result that the note, the JSON, the text and the UI are made from.

Field names are the keys of the JSON (`--json`), so a change here is a change of an interface.
Where a step is -1, it is init: before the first optimizer step's work began.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.causality.causes import Cause
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics.difference import Difference
from bisect_debugger.runs.operators import Excerpt
from bisect_debugger.twins.tally import Exhaustive

__all__ = [
    "Alternative",
    "Cause",
    "Compared",
    "Control",
    "Diagnosis",
    "Excerpt",
    "Experiment",
    "FirstVisible",
    "Isolation",
    "Onset",
    "Origin",
    "PairVerdict",
    "Reached",
    "Repeats",
    "RunSummary",
    "TrailStep",
    "Verdict",
    "Zoom",
]

DIAGNOSIS_VERSION = 1


class Verdict(StrEnum):
    """What can be said about the twins as a whole."""

    BIT_EQUAL = "bit-equal"
    WITHIN_TOLERANCE = "within-tolerance"
    DIVERGED = "diverged"
    INCONCLUSIVE = "inconclusive"

    @property
    def gravity(self) -> int:
        """Of several verdicts, the gravest speaks for all; the higher, the graver."""
        return _GRAVEST_LAST.index(self)


_GRAVEST_LAST = (
    Verdict.BIT_EQUAL,
    Verdict.WITHIN_TOLERANCE,
    Verdict.INCONCLUSIVE,
    Verdict.DIVERGED,
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in the diagnosis.

    Attributes:
        path: the file as the user named it.
        rank: process rank.
        steps: steps that an optimizer step closed.
        events: events recorded.
        complete: the recorder closed the file at the trainer's normal end.
    """

    path: str
    rank: int
    steps: int
    events: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """What the verdict rests on; nothing is said about any step past ``last_step``.

    ``window_start`` is the first compared step after init where steps before it were not compared,
    else None. ``cleared`` are groups that both runs recorded and that are equal in every step.
    """

    first_step: int
    last_step: int
    events: int
    uncovered: tuple[str, ...] = ()
    window_start: int | None = None
    cleared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Onset:
    """The first divergence at all. ``event`` is its sequence number in the first run."""

    step: int
    group: Group
    component: str
    buffer: str
    event: int


@dataclass(frozen=True, slots=True)
class FirstVisible:
    """The first divergence in a loss or logged scalar: what a person sees first."""

    step: int
    buffer: str


@dataclass(frozen=True, slots=True)
class Reached:
    """The first buffer of another component that an origin's difference arrived in."""

    step: int
    component: str
    buffer: str
    group: Group


@dataclass(frozen=True, slots=True)
class Zoom:
    """Where an origin began among the operators of its step.

    Attributes:
        found: how the walk back ended, e.g. ``kernel`` or ``entered``.
        operator: the operator there; whether it is the culprit is said by ``found``.
        overload: of its schema.
        location: ``file:line`` of the program that called it.
        module: path of the module whose forward it belongs to, or empty.
        node: in a backward pass the name of the autograd node, else empty.
        number: calls of the same operator from the same line that stand before it in the step.
        excerpt: the lines around ``location``, or None where the source was not there.
    """

    found: str
    operator: str
    overload: str
    location: str
    module: str
    node: str
    number: int
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A cause that an origin may have as well; ``why`` is the judgement that spoke against it."""

    cause: Cause
    why: str


@dataclass(frozen=True, slots=True)
class Origin:
    """A divergence although everything it was computed from is equal.

    Attributes:
        step: where it was first seen.
        group: what sort of buffer it is.
        component: what a person can change.
        buffer: full name of the buffer.
        event: sequence number of the event in the first run that has it.
        cause: kind of fault, from the decision tree.
        source: where the component's code stands, ``file:line``, or empty.
        proven: an experiment showed that changing one thing removes the divergence.
        dormant: it did not reach another component in the step where it began. Then it slept
            until ``first_reached.step``, or sleeps still where that is None.
        first_reached: where it first arrived in another component, or None.
        first_gradient: where it first arrived in another component's gradient, or None.
        contaminated: components it reached, in order of arrival.
        arrivals: where it arrived in each of them, in the same order.
        operator: culprit operator, or empty where no zoom was run.
        location: the user's line that ran the operator, or empty.
        difference: numbers, or None where no payload was recorded.
        evidence: sentences that support the cause.
        advice: what to change, in PyTorch terms, most likely first.
        confirm: what would confirm or refute the cause.
        trail: the decision tree as it was walked for this origin.
        zoom: what the operators of the step tell, or None where none were recorded.
        alternatives: less likely causes, likeliest first, each with what spoke against it.
        occurrence: how many events of the buffer stand before it in its step.
        moved: its content is equal, and its place in the order of the step is not.
    """

    step: int
    group: Group
    component: str
    buffer: str
    event: int
    cause: Cause
    source: str = ""
    proven: bool = False
    dormant: bool = False
    first_reached: Reached | None = None
    first_gradient: Reached | None = None
    contaminated: tuple[str, ...] = ()
    arrivals: tuple[Reached, ...] = ()
    operator: str = ""
    location: str = ""
    difference: Difference | None = None
    evidence: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    confirm: str = ""
    trail: tuple[TrailStep, ...] = ()
    zoom: Zoom | None = None
    alternatives: tuple[Alternative, ...] = ()
    occurrence: int = 0
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """Twins run again under changed conditions."""

    knobs: tuple[str, ...]
    pairs: int
    equal_pairs: int
    onset_steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many of ``repeats`` executions in isolation differed."""

    repeats: int
    different: int


@dataclass(frozen=True, slots=True)
class Isolation:
    """The culprit executed again from its saved inputs, forward and backward apart.

    Attributes:
        forward: how often its result differed.
        backward: how often its gradients did; None where no gradient came back to it.
        component: the module that was taken out, or the line of the operator.
        operator: the operator, or empty where it is a module.
        as_recorded: the first forward returned what it had returned in the training.
        script: the script that was run, with its inputs beside; empty where it was not kept.
    """

    forward: Repeats | None
    backward: Repeats | None
    component: str = ""
    operator: str = ""
    as_recorded: bool = True
    script: str = ""

    @property
    def is_reproduced(self) -> bool:
        """Some execution differed."""
        return any(each is not None and each.different for each in (self.forward, self.backward))


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict of one pair out of N runs; ``onset_step`` is None where they are equal."""

    a: str
    b: str
    verdict: Verdict
    onset_step: int | None


@dataclass(frozen=True, slots=True)
class Control:
    """Whether a run with another seed was a different run, as it must be."""

    seed_changes_the_run: bool


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that is known about a set of twins.

    ``origins[0]`` is the one to fix first. ``dormant_streams`` are origins outside training
    (a generator that differs but that training never drew from): they leave the verdict
    ``bit-equal``.
    """

    verdict: Verdict
    sentence: str
    runs: tuple[RunSummary, ...]
    compared: Compared
    onset: Onset | None = None
    first_visible: FirstVisible | None = None
    origins: tuple[Origin, ...] = ()
    dormant_streams: tuple[Origin, ...] = ()
    trail: tuple[TrailStep, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    isolation: Isolation | None = None
    pairs: tuple[PairVerdict, ...] = ()
    control: Control | None = None
    remarks: tuple[str, ...] = field(default=())
    """What a reader must know to judge the verdict: incomplete runs, other environments."""
    exhaustive: Exhaustive | None = None
    """Every event of the two runs compared, where that was asked for."""

    @property
    def exit_code(self) -> int:
        """0 equal or within tolerance, 1 diverged, 3 inconclusive."""
        if self.verdict in (Verdict.BIT_EQUAL, Verdict.WITHIN_TOLERANCE):
            return 0
        return 1 if self.verdict is Verdict.DIVERGED else 3
