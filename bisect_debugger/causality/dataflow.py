"""Recorded dataflow: which output a module input, a batch or a loss was computed from.

The recorder finds these edges through the autograd graph and writes the producers of a place
(buffer, occurrence) whenever they are others than it wrote last. A set of producers holds from
the step in which it was written until the next one for that place. Names are the same in both
runs, so what was seen in either run counts.

The graph does not show everything: what was computed under ``no_grad``, detached or used as an
index enters unseen. Edges therefore tell what explains a difference, and never that nothing
else could.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.runs import Buffer, Run
from bisect_debugger.twins.model import Row


@dataclass(frozen=True, slots=True)
class Edge:
    """One producer of one consumer.

    Attributes:
        step: the step from which it holds.
        consumer, consumer_occurrence: the module input, batch or loss.
        producer, producer_occurrence: the output; the consumer itself where the place has no
            recorded producer any more.
        gradient: a gradient flows back along the edge.
    """

    step: int
    consumer: str
    consumer_occurrence: int
    producer: str
    producer_occurrence: int
    gradient: bool


_Producers = frozenset[tuple[str, bool]]
"""(producer name, whether a gradient flows back)."""


class _History:
    """What one run recorded: producers of each place by the step from which they hold."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        found: dict[tuple[str, int], dict[int, set[tuple[str, bool]]]] = {}
        self._places: dict[str, set[int]] = {}
        self._consumers: dict[str, set[str]] = {}
        for edge in edges:
            place = (edge.consumer, edge.consumer_occurrence)
            producers = found.setdefault(place, {}).setdefault(edge.step, set())
            self._places.setdefault(edge.consumer, set()).add(edge.consumer_occurrence)
            if edge.producer != edge.consumer:
                producers.add((edge.producer, edge.gradient))
                self._consumers.setdefault(edge.producer, set()).add(edge.consumer)
        self._found: dict[tuple[str, int], tuple[list[int], list[_Producers]]] = {
            place: (sorted(steps), [frozenset(steps[step]) for step in sorted(steps)])
            for place, steps in found.items()
        }

    def at(self, name: str, occurrence: int, step: int) -> _Producers | None:
        """Producers of a place that hold in a step, None where none were recorded by then."""
        known = self._found.get((name, occurrence))
        index = bisect_right(known[0], step) if known else 0
        return known[1][index - 1] if known and index else None

    def of_any_occurrence(self, name: str, step: int) -> _Producers:
        sets = [self.at(name, occurrence, step) for occurrence in self._places.get(name, ())]
        return frozenset(producer for found in sets for producer in found or ())

    def consumers(self, name: str, step: int) -> set[str]:
        return {
            consumer
            for consumer in self._consumers.get(name, ())
            if (name, True) in self.of_any_occurrence(consumer, step)
        }


class Dataflow:
    """Producers of each consumer, and the other way round, by buffer name and step."""

    def __init__(self, *recorded: Iterable[Edge]) -> None:
        """Index the edges of each run."""
        self._histories = tuple(_History(edges) for edges in recorded)

    @classmethod
    def of(cls, *runs: Run) -> "Dataflow":
        """The edges of all runs together."""
        return cls(*(named_edges(run.edges(), run.buffers) for run in runs))

    def producers(self, name: str, occurrence: int, step: int) -> set[str]:
        """Outputs that this occurrence was computed from; of any occurrence where unknown."""
        found: set[str] = set()
        for history in self._histories:
            known = history.at(name, occurrence, step)
            if known is None:
                known = history.of_any_occurrence(name, step)
            found |= {producer for producer, _ in known}
        return found

    def consumers(self, name: str, step: int) -> set[str]:
        """Module inputs, batches and losses that send a gradient back to this output."""
        return {found for each in self._histories for found in each.consumers(name, step)}


def named_edges(edges: npt.NDArray[np.int64], buffers: Sequence[Buffer]) -> Iterable[Edge]:
    """Edges of one run with names for indices; an index that names no buffer is left out."""
    for step, consumer, at, producer, of, flows in edges.tolist():
        if consumer < len(buffers) and producer < len(buffers):
            yield Edge(step, buffers[consumer].name, at, buffers[producer].name, of, bool(flows))


def outputs_by_content(rows: Sequence[Row]) -> dict[tuple[int, int], set[str]]:
    """Names of the forward outputs of a step that share one content, by the first run's digest.

    The output of a container is its last child's: either name may stand in an edge.
    """
    shared: dict[tuple[int, int], set[str]] = {}
    for row in rows:
        if row.group is Group.FORWARD and row.role.startswith("out") and row.a is not None:
            shared.setdefault(row.a.digest, set()).add(row.name)
    return shared
