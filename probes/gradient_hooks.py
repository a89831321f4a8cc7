"""Tensor hooks: gradients of module outputs, and each backward's contribution to a parameter."""

import torch
from torch.utils.hooks import RemovableHandle

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from probes.content import is_plain
from probes.names import ModuleName, Names, TensorName
from probes.recorder import Recorder, guarded

_FLAGS = int(EventFlag.IN_BACKWARD)


class OutputGradients:
    """Gradient with respect to module outputs, through a hook on each output tensor.

    The hooks belong to the graph of one forward and go with it; after the recording they find
    it inactive and return at once.
    """

    def __init__(self, recorder: Recorder) -> None:
        """Record into this recorder."""
        self.recorder = recorder
        self._slots: dict[tuple[str, str], int | None] = {}

    def hook(self, output: torch.Tensor, name: ModuleName, slot: str) -> None:
        """Hook one output.

        Args:
            output: a tensor with a graph.
            name: the module.
            slot: which of its outputs, ``out`` or ``out[1]``.
        """
        output.register_hook(_GradientHook(self, name, slot))  # type: ignore[no-untyped-call]

    @guarded
    def record(self, gradient: torch.Tensor, name: ModuleName, slot: str) -> None:
        """Record the gradient of one output."""
        subject = f"{name.path}.{slot}"
        if is_plain(gradient):
            key = (name.path, slot)
            try:
                buffer = self._slots[key]
            except KeyError:
                buffer = self._slots[key] = self.recorder.buffer(
                    Group.GRAD_OUT,
                    f"{subject}.grad",
                    name.path,
                    slot,
                    subject,
                    name.location,
                    name.kind,
                )
            if buffer is not None:
                self.recorder.tensor(buffer, gradient, _FLAGS)
            return
        self.recorder.value(
            Group.GRAD_OUT,
            f"{subject}.grad",
            name.path,
            slot,
            gradient,
            subject=subject,
            location=name.location,
            kind=name.kind,
            flags=_FLAGS,
        )


class _GradientHook:
    """A hook that remembers which output it stands on."""

    __slots__ = ("name", "owner", "slot")

    def __init__(self, owner: OutputGradients, name: ModuleName, slot: str) -> None:
        self.owner, self.name, self.slot = owner, name, slot

    def __call__(self, gradient: torch.Tensor) -> None:
        self.owner.record(gradient, self.name, self.slot)


class Contributions:
    """What each backward pass contributes to a parameter, before accumulation."""

    def __init__(self, recorder: Recorder, names: Names) -> None:
        """Hook every parameter that asks for a gradient."""
        self.recorder = recorder
        self._handles: list[RemovableHandle] = []
        self._hooked: set[torch.Tensor] = set()
        for parameter, name in names.parameters.items():
            self.add(parameter, name)

    def add(self, parameter: torch.Tensor, name: TensorName) -> None:
        """Hook one parameter, once; one that asks for no gradient is left alone."""
        if not parameter.requires_grad or parameter in self._hooked:
            return
        self._hooked.add(parameter)
        if type(parameter).__name__ == "DTensor" or type(parameter.data).__name__ == "DTensor":
            # Sharded parameters never fire a tensor hook; the hook after accumulation does.
            def after(accumulated: torch.Tensor) -> None:
                if accumulated.grad is not None:
                    self.record(accumulated.grad, name)

            handle = parameter.register_post_accumulate_grad_hook(after)  # type: ignore[no-untyped-call]
            self._handles.append(handle)
            return

        def hook(gradient: torch.Tensor) -> None:
            self.record(gradient, name)

        self._handles.append(parameter.register_hook(hook))  # type: ignore[no-untyped-call]

    def remove(self) -> None:
        """Take all hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    @guarded
    def record(self, gradient: torch.Tensor, name: TensorName) -> None:
        """Record one contribution."""
        self.recorder.value(
            Group.GRAD_SCRATCH,
            f"{name.name}.grad_scratch",
            name.owner.path,
            name.role,
            gradient,
            subject=name.name,
            location=name.owner.location,
            kind=name.owner.kind,
            flags=_FLAGS,
        )
