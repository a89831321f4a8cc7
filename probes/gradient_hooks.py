"""Tensor hooks: gradients of module outputs, and each backward's contribution to a parameter."""

import weakref
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch._C import DisableTorchFunction, _len_torch_function_stack
from torch.compiler import is_compiling
from torch.nn.parameter import is_lazy
from torch.utils.hooks import RemovableHandle

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from probes.names import Held, ModuleName, Names
from probes.recorder import Recorder, guarded
from probes.slots import Slot

_IN_BACKWARD = int(EventFlag.IN_BACKWARD)


class GradientHook:
    """A hook on one tensor: records the gradient, changes nothing, and returns nothing."""

    # Else torch warns when a tensor with this hook is saved or sent to another process.
    __torch_unserializable__ = True

    __slots__ = ("known", "recorder", "slot")

    def __init__(self, recorder: Recorder, slot: Slot) -> None:
        """Record into a slot."""
        self.recorder, self.slot = recorder, slot
        self.known: bool | None = None
        """False where another hook is on the same tensor and is called with the same gradient,
        which is then hashed once (`Seeing.see`, made); None elsewhere."""

    def __call__(self, gradient: torch.Tensor) -> None:
        """Record the gradient that flows through the tensor."""
        recorder = self.recorder
        if is_compiling() or not recorder.active:
            return
        try:
            if _len_torch_function_stack():
                with DisableTorchFunction():
                    recorder.see(self.slot, gradient, _IN_BACKWARD, self.known)
            else:
                recorder.see(self.slot, gradient, _IN_BACKWARD, self.known)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            recorder.fail_with(error)


class AccumulatedHook(GradientHook):
    """The same for a parameter that only tells once its gradient is accumulated."""

    __slots__ = ()

    @guarded
    def __call__(self, parameter: torch.Tensor) -> None:
        """Record the parameter's accumulated gradient."""
        if parameter.grad is not None:
            self.recorder.see(self.slot, parameter.grad, _IN_BACKWARD)


class OutputGradients:
    """Gradient with respect to module outputs, through a hook on each output tensor.

    The hooks belong to the graph of one forward and go with it; after the recording they find
    it inactive and return at once.
    """

    def __init__(self, recorder: Recorder) -> None:
        """Record into this recorder."""
        self._recorder = recorder

    def hook_for(self, name: ModuleName, role: str) -> GradientHook:
        """The hook for one of a module's outputs.

        Args:
            name: the module.
            role: which of its outputs, ``out`` or ``out[1]``.
        """
        subject = f"{name.path}.{role}"
        return GradientHook(
            self._recorder,
            self._recorder.slot(
                Group.GRAD_OUT,
                f"{subject}.grad",
                name.path,
                role,
                subject,
                name.location,
                name.kind,
            ),
        )


def hook_output(output: torch.Tensor, node: Any, hook: GradientHook) -> None:
    """Put a hook on an output that has a graph.

    This is `Tensor.register_hook` without a handle that nobody would use: 1 us instead of 5.

    Args:
        output: the output as the module returned it.
        node: its autograd node.
        hook: what to put there.
    """
    hooks = output._backward_hooks
    if hooks is None:
        hooks = output._backward_hooks = OrderedDict()
        node._register_hook_dict(output)
    elif hook.known is None:
        # A container returns what its last child returned.
        for other in (hook, *hooks.values()):
            if isinstance(other, GradientHook):
                other.known = False
    hooks[hook] = hook  # type: ignore[index]


class Contributions:
    """What each backward pass contributes to a parameter, before accumulation."""

    def __init__(self, recorder: Recorder, names: Names) -> None:
        """Hook nothing yet."""
        self._recorder = recorder
        self._names = names
        self._hooked: list[_Hooked] = []
        self._waiting: list[Held] = []

    def add(self, parameters: Iterable[Held]) -> None:
        """Hook these as soon as they ask for a gradient."""
        # A thread beside the training may call a new module while the training begins a step.
        with self._recorder.lock:
            self._waiting += parameters
            self.hook_waiting()

    def hook_waiting(self) -> None:
        """Hook those that ask for a gradient by now: trainers freeze, thaw and materialise."""
        if self._waiting:
            with self._recorder.lock:
                self._waiting = [
                    held for held in self._waiting if not held.is_gone and not self._hook(held)
                ]

    def hook_replaced(self) -> None:
        """Hook those that were put in the place of a hooked one since the last step."""
        gone = [hooked for hooked in self._hooked if hooked.held.tensor is not hooked.tensor()]
        if not gone:
            return
        self._hooked = [hooked for hooked in self._hooked if hooked not in gone]
        for hooked in gone:
            hooked.handle.remove()
            now = hooked.held.tensor
            if now is not None:
                self._names.replaced(hooked.tensor(), now, hooked.held)
                self._waiting.append(hooked.held)

    def remove(self) -> None:
        """Take all hooks away."""
        for hooked in self._hooked:
            hooked.handle.remove()
        self._hooked, self._waiting = [], []

    def _hook(self, held: Held) -> bool:
        with DisableTorchFunction():
            return self._hook_unseen(held)

    def _hook_unseen(self, held: Held) -> bool:
        parameter, name = held.tensor, held.name
        if parameter is None or not parameter.requires_grad or is_lazy(parameter):
            return False
        slot = self._recorder.slot(
            Group.GRAD_SCRATCH,
            f"{name.name}.grad_scratch",
            name.owner.path,
            name.role,
            name.name,
            name.owner.location,
            name.owner.kind,
        )
        if "DTensor" in (type(parameter).__name__, type(parameter.data).__name__):
            # Sharded parameters never fire a tensor hook; the hook after accumulation does.
            after = AccumulatedHook(self._recorder, slot)
            handle = parameter.register_post_accumulate_grad_hook(after)  # type: ignore[no-untyped-call]
        else:
            hook = GradientHook(self._recorder, slot)
            handle = parameter.register_hook(hook)  # type: ignore[no-untyped-call]
        self._hooked.append(_Hooked(held, weakref.ref(parameter), handle))
        return True


@dataclass(frozen=True, slots=True, eq=False)
class _Hooked:
    """A parameter that carries a hook."""

    held: Held
    tensor: weakref.ref[torch.Tensor]
    handle: RemovableHandle
