"""Recorded dataflow: which output a module input, a batch or a loss was computed from.

The recorder finds these edges through the autograd graph, once per place in the program.
Names are the same in both runs, so an edge seen in either run counts.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.runs import Buffer, Run
from bisect_debugger.twins.model import Row

Edge = tuple[str, int, str, int, bool]


class Dataflow:
    """Producers of each consumer, and the other way round, by buffer name."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        """Index edges.

        Args:
            edges: (consumer name, its occurrence, producer name, its occurrence, whether a
                gradient flows back).
        """
        self._producers: dict[tuple[str, int], set[tuple[str, int]]] = {}
        self._consumers: dict[str, set[str]] = {}
        self._known: set[str] = set()
        for consumer, consumer_occurrence, producer, producer_occurrence, gradient in edges:
            self._producers.setdefault((consumer, consumer_occurrence), set()).add(
                (producer, producer_occurrence)
            )
            if gradient:
                self._consumers.setdefault(producer, set()).add(consumer)
            self._known.add(consumer)

    @classmethod
    def of(cls, *runs: Run) -> "Dataflow":
        """The edges of all runs together."""
        return cls(edge for run in runs for edge in named_edges(run.edges(), run.buffers))

    def producers(self, name: str, occurrence: int) -> set[str]:
        """Outputs that this occurrence was computed from; of any occurrence where unknown."""
        exact = self._producers.get((name, occurrence))
        if exact is None and name in self._known:
            exact = {
                producer
                for (consumer, _), found in self._producers.items()
                if consumer == name
                for producer in found
            }
        return {producer for producer, _ in exact or ()}

    def consumers(self, name: str) -> set[str]:
        """Module inputs, batches and losses that send a gradient back to this output."""
        return self._consumers.get(name, set())

    def knows(self, name: str) -> bool:
        """At least one producer of this consumer was recorded."""
        return name in self._known


def named_edges(edges: npt.NDArray[np.int64], buffers: Sequence[Buffer]) -> Iterable[Edge]:
    """Edges of one run with names for indices; an index that names no buffer is left out."""
    for _, consumer, consumer_occurrence, producer, producer_occurrence, flows in edges.tolist():
        if consumer < len(buffers) and producer < len(buffers):
            yield (
                buffers[consumer].name,
                int(consumer_occurrence),
                buffers[producer].name,
                int(producer_occurrence),
                bool(flows),
            )


def outputs_by_content(rows: Sequence[Row]) -> dict[tuple[int, int], set[str]]:
    """Names of the forward outputs of a step that share one content, by the first run's digest.

    The output of a container is its last child's: either name may stand in an edge.
    """
    shared: dict[tuple[int, int], set[str]] = {}
    for row in rows:
        if row.group is Group.FORWARD and row.role.startswith("out") and row.a is not None:
            shared.setdefault(row.a.digest, set()).add(row.name)
    return shared
