"""Edges: which recorded outputs an input, a batch or a loss was computed from.

Each recorded output leaves a mark in the metadata of its autograd node; an input walks back
from its own node to the nearest marks. The program's structure rarely changes, so a place
(buffer, occurrence) is walked once and costs nothing afterwards. Marks live and die with the
graph: nothing is kept alive.
"""

import weakref
from typing import Any

import torch

from probes.recorder import Recorder, version_of

_MARK = "bisect_debugger"

WALK_LIMIT = 4000
"""Most autograd nodes that one walk visits; a longer walk leaves the edges it has found."""

Place = tuple[int, int]
"""(buffer id, occurrence in the step)."""


class Edges:
    """Finds and writes the edges of a recording."""

    def __init__(self, recorder: Recorder) -> None:
        """Write edges into the recorder's run."""
        self._recorder = recorder
        self._walked: set[Place] = set()
        self._marked: set[Place] = set()
        self._outputs: dict[tuple[int, int], tuple[weakref.ref[torch.Tensor], int, Place]] = {}

    def begin_step(self) -> None:
        """Forget the outputs of the step before."""
        self._outputs.clear()

    def output(self, tensor: torch.Tensor, place: Place) -> None:
        """Mark a recorded output.

        Args:
            tensor: the output as the module returned it.
            place: its buffer and occurrence.
        """
        node = tensor.grad_fn
        if node is not None:
            metadata: Any = node.metadata
            metadata[_MARK] = (self._recorder.step, place)
        if place not in self._marked:
            # Without a graph (no_grad, detached), the same memory at the same version tells.
            self._marked.add(place)
            key = (tensor.data_ptr(), tensor.numel())
            self._outputs[key] = (weakref.ref(tensor), version_of(tensor), place)

    def consumed(self, tensor: torch.Tensor, place: Place) -> None:
        """Find what a tensor was computed from, once per place.

        Args:
            tensor: a module input, a batch or a loss.
            place: its buffer and occurrence.
        """
        if place in self._walked:
            return
        self._walked.add(place)
        through_graph = self._graph_producers(tensor)
        for producer in through_graph | self._same_memory(tensor):
            if producer[0] != place[0]:
                self._recorder.writer.edge(
                    self._recorder.step,
                    *place,
                    *producer,
                    differentiable=producer in through_graph,
                )

    def _same_memory(self, tensor: torch.Tensor) -> set[Place]:
        """An output that is, unwritten since, the very same memory: detached or without graph."""
        known = self._outputs.get((tensor.data_ptr(), tensor.numel()))
        if known is None:
            return set()
        output, version, place = known
        return {place} if output() is not None and version == version_of(tensor) else set()

    def _graph_producers(self, tensor: torch.Tensor) -> set[Place]:
        found: set[Place] = set()
        waiting = [tensor.grad_fn] if tensor.grad_fn is not None else []
        seen = set(waiting)
        while waiting and len(seen) < WALK_LIMIT:
            node = waiting.pop()
            metadata: Any = node.metadata
            mark = metadata.get(_MARK)
            if mark is not None and mark[0] == self._recorder.step:
                found.add(mark[1])
                continue
            for above, _ in node.next_functions:
                if above is not None and above not in seen:
                    seen.add(above)
                    waiting.append(above)
        return found
