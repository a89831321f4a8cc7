"""Forward hooks: module inputs and outputs in execution order, and the batch at the root.

Only forward hooks and tensor hooks are used. A full backward hook, even one that does nothing,
wraps inputs and outputs in a custom function, which changes the bits of gradients and forbids
in-place operations on the output.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from probes.content import is_plain, leaves
from probes.edges import Edges
from probes.gradient_hooks import OutputGradients
from probes.names import ModuleName, Names
from probes.recorder import Recorder, flags_now, guarded, in_backward


class ModuleHooks:
    """Hooks on every named module."""

    def __init__(
        self,
        recorder: Recorder,
        names: Names,
        edges: Edges,
        gradients: OutputGradients,
        at_root: Callable[[], None],
    ) -> None:
        """Hook every module.

        Args:
            recorder: where events go.
            names: the modules and their paths.
            edges: finds what inputs were computed from.
            gradients: hooks the outputs for their gradients.
            at_root: called before a root module's first forward of a step.
        """
        self.recorder = recorder
        self._names = names.modules
        self._edges = edges
        self._gradients = gradients
        self._at_root = at_root
        self._slots: dict[tuple[torch.nn.Module, str, str], int | None] = {}
        self._handles: list[RemovableHandle] = []
        for module in names.modules:
            self._handles += [
                module.register_forward_pre_hook(self._before, with_kwargs=True),
                module.register_forward_hook(self._after, with_kwargs=True),
            ]

    def remove(self) -> None:
        """Take all hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    @guarded
    def _before(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.recorder.begin_step()
        name = self._names[module]
        if name.is_root and not in_backward():
            self._at_root()
        flags = self._flags(module)
        for index, value in enumerate(args):
            self._input(module, name, f"in[{index}]", value, flags)
        for key, value in kwargs.items():
            self._input(module, name, f"in.{key}", value, flags)

    def _input(
        self, module: torch.nn.Module, name: ModuleName, slot: str, value: object, flags: int
    ) -> None:
        if type(value) is torch.Tensor:
            self._input_leaf(module, name, slot, value, flags)
            return
        for path, leaf in leaves(value):
            if _is_recordable(leaf):
                self._input_leaf(module, name, slot + path, leaf, flags)

    def _input_leaf(
        self, module: torch.nn.Module, name: ModuleName, slot: str, leaf: object, flags: int
    ) -> None:
        if name.is_root:
            group, full, component = Group.DATA, f"data.{name.path}.{slot}", "data"
        else:
            group, full, component = Group.FORWARD, f"{name.path}.{slot}", name.path
        place = self._see(module, name, group, full, component, slot, leaf, flags, output=False)
        if place is not None and isinstance(leaf, torch.Tensor) and not in_backward():
            self._edges.consumed(leaf, place)

    @guarded
    def _after(
        self,
        module: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        output: object,
    ) -> None:
        name = self._names[module]
        flags = self._flags(module)
        if type(output) is torch.Tensor:
            self._output(module, name, "out", output, flags)
            return
        for path, leaf in leaves(output):
            if _is_recordable(leaf):
                self._output(module, name, f"out{path}", leaf, flags)

    def _output(
        self, module: torch.nn.Module, name: ModuleName, slot: str, leaf: object, flags: int
    ) -> None:
        full = f"{name.path}.{slot}"
        place = self._see(
            module, name, Group.FORWARD, full, name.path, slot, leaf, flags, output=True
        )
        if isinstance(leaf, torch.Tensor):
            if place is not None and not flags & EventFlag.RECOMPUTE:
                self._edges.output(leaf, place)
            if leaf.grad_fn is not None:
                self._gradients.hook(leaf, name, slot)

    def _see(
        self,
        module: torch.nn.Module,
        name: ModuleName,
        group: Group,
        full: str,
        component: str,
        slot: str,
        leaf: object,
        flags: int,
        *,
        output: bool,
    ) -> tuple[int, int] | None:
        if isinstance(leaf, torch.Tensor) and is_plain(leaf):
            key = (module, slot, "")
            try:
                buffer = self._slots[key]
            except KeyError:
                buffer = self._slots[key] = self.recorder.buffer(
                    group, full, component, slot, "", name.location, name.kind
                )
            if buffer is None:
                return None
            return buffer, self.recorder.tensor(buffer, leaf, flags, remember=output)
        return self.recorder.value(
            group,
            full,
            component,
            slot,
            leaf,
            location=name.location,
            kind=name.kind,
            flags=flags,
        )

    def _flags(self, module: torch.nn.Module) -> int:
        flags = flags_now(module)
        if in_backward():
            flags |= EventFlag.RECOMPUTE
        return int(flags)


def _is_recordable(leaf: object) -> bool:
    """Tensors and plain numbers; other objects in arguments are not content."""
    return isinstance(leaf, (torch.Tensor, bool, int, float, complex))
