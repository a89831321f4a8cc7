"""A differing event in its surroundings, and how an explanation of it looks."""

from collections.abc import Callable
from dataclasses import dataclass

from bisect_debugger.causality.dataflow import Dataflow
from bisect_debugger.causality.ledger import Ledger, Origins
from bisect_debugger.causality.streams import Streams
from bisect_debugger.twins.model import Row


@dataclass(frozen=True, slots=True)
class Place:
    """An event in its surroundings: what the rules may look at.

    Attributes:
        row: the differing event.
        index: its index in the step.
        ledger: taints at this moment.
        streams: the random streams of this step.
        dataflow: recorded edges.
        shared_outputs: output names of this step by content.
        component_of: component of a buffer name.
        users_of: components that use a parameter, by its name; several where it is shared.
        trained: parameters that an optimizer sees the gradient of.
        contributed: parameters to which a backward pass of this step contributed.
        closed_loop: data depends on what the model did before (reinforcement learning).
        learned: origins that reached a gradient of another component in an earlier step.
    """

    row: Row
    index: int
    ledger: Ledger
    streams: Streams
    dataflow: Dataflow
    shared_outputs: dict[tuple[int, int], set[str]]
    component_of: dict[str, str]
    users_of: dict[str, frozenset[str]]
    trained: frozenset[str]
    contributed: frozenset[str]
    closed_loop: bool
    learned: Origins


@dataclass(frozen=True, slots=True)
class Tier:
    """One nearest-first level of a rule: what is upstream, in words and as a function.

    Attributes:
        words: what is upstream.
        upstream: the origins that it holds.
        certain: the dependency is known, not merely possible: several origins found here all
            arrived.
        parts: the same words one by one, each with the kind of event that it takes: a group's
            label, or ``loader``. Where a recording has none of the kind, nothing was looked at.
    """

    words: str
    upstream: Callable[[Place], Origins]
    certain: bool = True
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The origins that a difference is owed to, and the tier that says so."""

    origins: Origins
    words: str
    certain: bool
