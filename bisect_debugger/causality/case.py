"""A case: one origin with all the evidence that the decision tree may look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bisect_debugger.metrics import Difference
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins.model import Row
from bisect_debugger.twins.operators import OperatorFinding


class Answer(StrEnum):
    """How a question was answered; ``not recorded`` is never treated as no by accident."""

    YES = "yes"
    NO = "no"
    NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer with what was looked at, in one sentence."""

    answer: Answer
    evidence: str


@dataclass(frozen=True, slots=True)
class TrailStep:
    """One question of the decision tree as it was answered.

    Attributes:
        question: what was asked.
        evidence: what was looked at and found.
        answer: ``yes``, ``no``, ``not recorded``, or the conclusion at a leaf.
        node: id of the tree's node.
    """

    question: str
    evidence: str
    answer: str
    node: str


@dataclass(frozen=True, slots=True)
class Case:
    """One origin in its surroundings.

    Attributes:
        row: the event where it began.
        step_rows: all rows of that step.
        first_step: the first step at which the buffer was recorded at all.
        siblings_equal: buffers of the same group in that step that are equal.
        siblings_different: buffers of the same group in that step that differ.
        difference: numbers, or None where no payload was recorded.
        permuted: both sides hold the same entries along the first axis in another order;
            None where no payload was recorded.
        facts_a: facts of the first run.
        facts_b: facts of the second run.
        environment: facts that differ between the runs, name -> (first, second).
        differing_streams: random streams that differ in this step or before and are drawn from.
        recorded_streams: random streams that were recorded.
        idle_streams: random streams that differ by then and are not drawn from.
        contributions: gradient contributions of the parameter in this step, for gradients.
        factor: what all elements of the first run are multiplied by in the second, for gradients;
            None where there is no such factor, or no payload.
        opened: it differs where a window opens, and may have differed before.
        drawn_for: streams that are equal and were drawn from since the last step, for data.
        rearranged: how both runs hold the same samples although the event differs, or empty.
        renumbered: it is so that other numbers stand for the same things.
        shifted: how one run is some batches ahead of the other, or empty.
        kind: class of the component with its module, or empty.
        recorded: kinds of events that the runs hold: labels of groups, and ``loader``.
        written_outside: modules that compute in this step, and whose parameters are written while
            no optimizer step is at work, in this step or around it.
        operator: where it began among the operators of its step, or None where that is not known.
    """

    row: Row
    step_rows: Sequence[Row]
    first_step: int
    siblings_equal: int
    siblings_different: int
    difference: Difference | None
    permuted: bool | None
    facts_a: RunFacts
    facts_b: RunFacts
    environment: dict[str, tuple[str, str]] = field(default_factory=dict)
    differing_streams: tuple[str, ...] = ()
    recorded_streams: tuple[str, ...] = ()
    idle_streams: tuple[str, ...] = ()
    contributions: int = 0
    factor: float | None = None
    opened: bool = False
    drawn_for: tuple[str, ...] = ()
    rearranged: str = ""
    renumbered: bool = False
    shifted: str = ""
    kind: str = ""
    recorded: frozenset[str] = frozenset()
    operator: OperatorFinding | None = None
    written_outside: tuple[str, ...] = ()
