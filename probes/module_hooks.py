"""Module inputs and outputs in execution order, and the batch at the root.

Every call of a module is heard (`probes.module_calls`); recorded are those that have a name.

A full backward hook, even one that does nothing, wraps inputs and outputs in a custom function,
which changes the bits of gradients and forbids in-place operations on the output. Gradients are
therefore seen through hooks on the output tensors.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import is_grad_enabled
from torch._C import (
    DisableTorchFunction,
    _current_graph_task_id,
    _is_tracing,
    _len_torch_function_stack,
)
from torch.fx import _symbolic_trace as fx_tracing

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from probes.content import leaves
from probes.edges import Edges
from probes.exporting import Exporting
from probes.gradient_hooks import GradientHook, OutputGradients, hook_output
from probes.module_calls import ignore, listen, listens
from probes.names import ModuleName
from probes.nests import Beyond, held_by
from probes.ports import Ports
from probes.recorder import Recorder
from probes.slots import LEFT_OUT, Slot
from probes.while_alive import WhileAlive

_NO_GRAD = int(EventFlag.NO_GRAD)
_EVAL_MODE = int(EventFlag.EVAL_MODE)
_RECOMPUTE = int(EventFlag.RECOMPUTE)
_DATA = Group.DATA
_MOST_PASSES = 16
"""Most passes of one step: a root may be a cell that is called for each token."""


class ModuleHooks:
    """Records the calls of every named module."""

    def __init__(
        self,
        recorder: Recorder,
        edges: Edges,
        gradients: OutputGradients,
        at_forward: Callable[[bool], None],
        at_call: Callable[[str], None],
        unknown: Callable[[torch.nn.Module], None] | None = None,
    ) -> None:
        """Hear of every module; `add` says which are recorded.

        Args:
            recorder: where events go.
            edges: finds what inputs were computed from.
            gradients: hooks the outputs for their gradients.
            at_forward: called before a step's first forward, with whether the step began with it.
            at_call: called with the path of a module before its first call in a pass: in a step,
                or in a call of a root.
            unknown: called with a module that was not added, before its forward; it may be added
                there.
        """
        self.recorder = recorder
        self._edges, self._produced, self._consumed = edges, edges.output, edges.consumed
        self._at_forward, self._at_call = at_forward, at_call
        self._pass = self._passes = 0
        self._thread = recorder.thread
        self._keeps_edges = self._marks_outputs = edges.are_kept
        self._forward_step = INIT_STEP
        self._enclosed: Callable[[], bool] | None = None
        self._gradients = gradients
        self._unknown = unknown
        self._ports: WhileAlive[Ports] = WhileAlive()
        self._strangers: WhileAlive[None] = WhileAlive()
        """Introduced before, and nobody wanted them: a loss, or a network beside the roots."""
        listen(self)
        self._exporting = Exporting(self._aside)

    def add(self, module: torch.nn.Module, name: ModuleName) -> None:
        """Record this module from now on."""
        self._strangers.drop(module)
        self._ports.keep(module, Ports(self.recorder, module, name, self._gradients))

    def ask_again(self) -> None:
        """Introduce those once more that nobody wanted: somebody may want them from now on."""
        self._strangers.clear()

    def ask_enclosed(self, enclosed: Callable[[], bool]) -> None:
        """Take for the batch what enters the outermost call from outside, not what enters a root.

        Args:
            enclosed: tells whether another recorded module made the call that goes on.
        """
        self._enclosed = enclosed
        self._marks_outputs = True

    def remove(self) -> None:
        """Take all hooks away."""
        self._exporting.remove()
        ignore(self)
        self._ports.clear()

    def listen(self, wanted: bool) -> None:
        """Hear of calls, or not: outside the window a call costs what it does bare."""
        if wanted:
            listen(self)
        else:
            ignore(self)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        was_there = listens(self)
        ignore(self)
        try:
            yield
        finally:
            if was_there and not self.recorder.closed and not self.recorder.failed:
                listen(self)

    def before(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Record a module's inputs; never raises.

        Args:
            module: the module that is called.
            args: positional arguments of its forward.
            kwargs: its keyword arguments.
        """
        ports, recorder = self._ports.get(id(module)), self.recorder
        if ports is None and (self._unknown is None or id(module) in self._strangers):
            return
        if _is_tracing() or fx_tracing._is_fx_tracing_flag:
            return
        if not recorder.active:
            if recorder.failed:
                recorder.withdraw()
            return
        try:
            if _len_torch_function_stack():
                with DisableTorchFunction():
                    self._inputs(module, ports, args, kwargs)
            else:
                self._inputs(module, ports, args, kwargs)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            recorder.fail_with(error)

    def _introduce(self, module: torch.nn.Module) -> Ports | None:
        if self._unknown is not None:
            self._unknown(module)
        found = self._ports.get(id(module))
        if found is None:
            self._strangers.keep(module, None)
        return found

    def _inputs(
        self,
        module: torch.nn.Module,
        ports: Ports | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        if ports is None:
            ports = self._introduce(module)
            if ports is None:
                return
        recorder, fresh = self.recorder, False
        if not recorder.begun:
            fresh = recorder.begin_step()
            if not recorder.active:
                return
        if ports.name.root not in recorder.ran and recorder.is_steppers():
            recorder.ran.add(ports.name.root)
        flags = 0 if is_grad_enabled() else _NO_GRAD
        if not module.training:
            flags |= _EVAL_MODE
        if _current_graph_task_id() != -1:
            flags |= _RECOMPUTE
        elif (
            (ports.begins and ports.called_in != self._pass) or self._forward_step != recorder.step
        ) and recorder.stepper == self._thread():
            self._begin_call(ports, fresh)
        inputs = ports.inputs
        for index, value in enumerate(args):
            if type(value) is torch.Tensor:
                self._input(inputs.get(index) or self._port(ports, index, "", value), value, flags)
            else:
                self._several(ports, index, value, flags)
        for key, value in kwargs.items():
            self._several(ports, key, value, flags)

    def _begin_call(self, ports: Ports, fresh: bool) -> None:
        """A module is called for the first time in a pass, or it is a root, which begins one."""
        if self._forward_step != self.recorder.step:
            self._forward_step = self.recorder.step
            self._pass, self._passes = self._pass + 1, 0
            self._at_forward(fresh)
        if not ports.begins:
            return
        if ports.name.is_root and self._passes < _MOST_PASSES:
            self._pass, self._passes = self._pass + 1, self._passes + 1
        else:
            ports.called_in = self._pass
        if ports.holds:
            self._at_call(ports.name.path)

    def _several(self, ports: Ports, key: int | str, value: object, flags: int) -> None:
        # A tensor of a class of the trainer's own would notice being looked at.
        with DisableTorchFunction():
            for path, leaf in leaves(value):
                slot = self._port(ports, key, path, leaf)
                if issubclass(type(leaf), torch.Tensor):
                    self._input(slot, leaf, flags)  # type: ignore[arg-type]
                elif issubclass(type(leaf), _CONTENT):
                    self.recorder.see(slot, leaf, flags)
                else:
                    self._note_unseen(slot, leaf)

    def _port(self, ports: Ports, key: int | str, path: str, leaf: object) -> Slot:
        found = ports.inputs.get((key, path) if path else key)
        return found or ports.input(key, path, self._is_batch(ports, leaf))

    def _is_batch(self, ports: Ports, leaf: object) -> bool:
        """What goes in there comes from outside; asked once, at its first sight."""
        if self._enclosed is None:
            return ports.name.is_root
        if self._enclosed():
            return False
        return not isinstance(leaf, torch.Tensor) or not self._edges.producers(leaf)

    def _input(self, slot: Slot, tensor: torch.Tensor, flags: int) -> None:
        recorder = self.recorder
        if slot.group is _DATA:
            recorder.known.forget(tensor)
        try:
            node = tensor.grad_fn
        except RuntimeError:
            # As in `node_of`.
            node = None
        place = recorder.see(slot, tensor, flags, node is not None)
        if place is not None and self._keeps_edges and not flags & _RECOMPUTE:
            self._consumed(tensor, node, place)

    def after(self, module: torch.nn.Module, output: object) -> None:
        """Record what a module returned; never raises."""
        ports = self._ports.get(id(module))
        if ports is None or not self.recorder.active:
            return
        if _is_tracing() or fx_tracing._is_fx_tracing_flag:
            return
        try:
            if _len_torch_function_stack():
                with DisableTorchFunction():
                    self._outputs(module, ports, output)
            else:
                self._outputs(module, ports, output)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.recorder.fail_with(error)

    def _outputs(self, module: torch.nn.Module, ports: Ports, output: object) -> None:
        flags = 0 if is_grad_enabled() else _NO_GRAD
        if not module.training:
            flags |= _EVAL_MODE
        if _current_graph_task_id() != -1:
            flags |= _RECOMPUTE
        if type(output) is torch.Tensor:
            slot, hook = ports.bare_output or ports.output("")
            self._output(slot, hook, output, flags)
            known = self.recorder.known
            if known.passing:
                known.forget_passing(output)
            return
        with DisableTorchFunction():
            for path, leaf in leaves(output):
                slot, hook = ports.output(path)
                if issubclass(type(leaf), torch.Tensor):
                    self._output(slot, hook, leaf, flags)  # type: ignore[arg-type]
                elif issubclass(type(leaf), _CONTENT):
                    self.recorder.see(slot, leaf, flags)
                else:
                    self._note_unseen(slot, leaf)
        self.recorder.known.forget_passing()

    def _output(self, slot: Slot, hook: GradientHook, output: torch.Tensor, flags: int) -> None:
        try:
            node = output.grad_fn
        except RuntimeError:
            # As in `node_of`.
            node = None
        place = self.recorder.see(slot, output, flags, node is not None)
        if place is not None and self._marks_outputs and not flags & _RECOMPUTE:
            self._produced(output, node, place)
        if node is not None and hook.slot.buffer != LEFT_OUT:
            hook_output(output, node, hook)

    def _note_unseen(self, slot: Slot, leaf: object) -> None:
        if any(issubclass(type(held), torch.Tensor) for held in held_by(leaf).values()):
            self.recorder.writer.uncovered(
                f"{slot.name}: the tensors that a {type(leaf).__name__} holds"
            )


_CONTENT = (torch.Tensor, bool, int, float, complex, np.ndarray, np.generic, Beyond)
"""Tensors, arrays and plain numbers; other objects in arguments are not content."""
