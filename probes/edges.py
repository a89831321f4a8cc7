"""Edges: which recorded outputs an input, a batch or a loss was computed from.

Each recorded output leaves a mark in the metadata of its autograd node; an input walks back
from its own node to the nearest marks. The program's structure rarely changes: as long as a
step does the same calls in the same order, what a place (buffer, occurrence) was computed from
is known and costs a look-up. A step that leaves the known path (a layer skipped, another
expert, an evaluation in between) is walked anew. Marks live and die with the graph: nothing is
kept alive.
"""

from typing import Any
from weakref import ref

import torch

from probes.known import version_of
from probes.recorder import Place, Recorder

WALK_LIMIT = 4000
"""Most autograd nodes that one walk visits. A longer walk is given up as a whole: half of the
producers would make an input look as if it owed its difference to none."""

MOST_PATHS = 100_000
"""Most paths whose producers are remembered (about 20 MB); after that, it begins anew."""

Producer = tuple[Place, bool]
"""(output, whether a gradient flows back to it)."""

_NONE: frozenset[Producer] = frozenset()


class Edges:
    """Finds and writes the edges of a recording."""

    def __init__(self, recorder: Recorder) -> None:
        """Write edges into the recorder's run."""
        self._recorder, self._tensors = recorder, recorder.known
        self.are_kept = recorder.selection.level != "coarse"
        """The run has events that edges can join."""
        self._mark = f"bisect_debugger:{id(recorder)}"
        self._path = 0
        self._known: dict[int, frozenset[Producer]] = {}
        self._written: dict[Place, frozenset[Producer]] = {}
        self._outputs: dict[tuple[int, int], tuple[ref[torch.UntypedStorage], int, Place]] = {}

    def begin_step(self) -> None:
        """Forget the outputs of the step before."""
        self._outputs.clear()
        self._path = 0

    def output(self, tensor: torch.Tensor, node: Any, place: Place) -> None:
        """Mark a recorded output.

        Args:
            tensor: the output as the module returned it.
            node: its autograd node, or None.
            place: its buffer and occurrence.
        """
        self._path = hash((self._path, place, node is None))
        if node is not None:
            node.metadata[self._mark] = (self._recorder.step, place)
        # Without a graph (no_grad, detached), the same memory at the same version tells. Its
        # storage object lives as long as the memory does, also where nobody holds it.
        known = self._tensors.get(id(tensor))
        if known is not None and known[0]() is tensor:
            # Read just now.
            _, version, address, (_, form) = known
            count = form.count
        else:
            try:
                address = tensor.data_ptr()
            except RuntimeError:
                return
            if not address:
                return
            try:
                version = tensor._version
            except RuntimeError:
                # As in `version_of`.
                version = -1
            count = tensor.numel()
        self._outputs[address, count] = (ref(tensor.untyped_storage()), version, place)

    def consumed(self, tensor: torch.Tensor, node: Any, place: Place) -> None:
        """Find what a tensor was computed from, and write it where that is news.

        Args:
            tensor: a module input, a batch or a loss.
            node: its autograd node, or None.
            place: its buffer and occurrence.
        """
        # The nearest output is part of the path: which one is used may change without a call.
        nearest = None if node is None else node.metadata.get(self._mark)
        self._path = path = hash((self._path, place, node is None, nearest and nearest[1]))
        found = self._known.get(path)
        if found is None:
            found = self._producers(tensor, node, place)
            if len(self._known) >= MOST_PATHS:
                self._known.clear()
            self._known[path] = found
        before = self._written.get(place, _NONE)
        if found is not before and found != before:
            self._written[place] = found
            self._write(place, found)

    def _write(self, place: Place, found: frozenset[Producer]) -> None:
        writer, step = self._recorder.writer, self._recorder.step
        # That nothing is known any more is written as an edge from the place to itself.
        for producer, flows in sorted(found) or [(place, False)]:
            writer.edge(step, *place, *producer, differentiable=flows)

    def _producers(self, tensor: torch.Tensor, node: Any, place: Place) -> frozenset[Producer]:
        through_graph = self._graph_producers(node)
        # A loop body's output is its own next input: only the same buffer is no producer.
        return frozenset(
            (producer, producer in through_graph)
            for producer in through_graph | self._same_memory(tensor)
            if producer[0] != place[0]
        )

    def producers(self, tensor: torch.Tensor) -> set[Place]:
        """Recorded outputs of this step that a tensor was computed from, as far as is seen."""
        return self._graph_producers(node_of(tensor)) | self._same_memory(tensor)

    def _same_memory(self, tensor: torch.Tensor) -> set[Place]:
        """An output that is, unwritten since, the very same memory: detached or without graph."""
        memory = _memory_of(tensor)
        known = self._outputs.get(memory) if memory is not None else None
        if known is None:
            return set()
        storage, version, place = known
        # Memory that was given back may be somebody else's by now.
        return set() if storage() is None or version != version_of(tensor) else {place}

    def _graph_producers(self, node: Any) -> set[Place]:
        found: set[Place] = set()
        waiting = [] if node is None else [node]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            mark = node.metadata.get(self._mark)
            if mark is not None and mark[0] == self._recorder.step:
                found.add(mark[1])
                continue
            for above, _ in node.next_functions:
                if above is not None and above not in seen:
                    seen.add(above)
                    waiting.append(above)
            if len(seen) > WALK_LIMIT:
                self._recorder.writer.uncovered(
                    f"some producers: more than {WALK_LIMIT} operators between module outputs"
                )
                return set()
        return found


def node_of(tensor: torch.Tensor) -> Any:
    """The tensor's autograd node, or None where it has none or torch refuses to rebuild it.

    Asking a view for its node after its base was written in place may raise, and the trainer
    may never ask.
    """
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def _memory_of(tensor: torch.Tensor) -> tuple[int, int] | None:
    """Address and number of elements; None for a tensor without one block of memory."""
    try:
        address = tensor.data_ptr()
    except RuntimeError:
        return None
    return (address, tensor.numel()) if address else None
