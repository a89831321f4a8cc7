"""What goes into a module and comes out of it, and the buffers that it is recorded as."""

import torch

from bisect_debugger.format.groups import Group
from probes.gradient_hooks import GradientHook, OutputGradients
from probes.names import ModuleName
from probes.recorder import Recorder
from probes.seeding import caller
from probes.slots import Slot


class Ports:
    """The slots of one module's inputs and outputs, made as they are first used."""

    __slots__ = (
        "_gradients",
        "_outputs",
        "_recorder",
        "bare_output",
        "begins",
        "called_in",
        "holds",
        "inputs",
        "name",
    )

    def __init__(
        self,
        recorder: Recorder,
        module: torch.nn.Module,
        name: ModuleName,
        gradients: OutputGradients,
    ) -> None:
        """Know the module's name."""
        self._recorder, self.name, self._gradients = recorder, name, gradients
        self.inputs: dict[int | str | tuple[int | str, str], Slot] = {}
        self._outputs: dict[str, tuple[Slot, GradientHook]] = {}
        self.bare_output: tuple[Slot, GradientHook] | None = None
        """Where an output goes that is a tensor and no container."""
        self.holds = bool(module._parameters)
        self.begins = name.is_root or self.holds
        """Its calls are looked at as they begin: it holds parameters, or is a root."""
        self.called_in = -1
        """The pass in which the module was called last; see `ModuleHooks`."""

    def input(self, key: int | str, path: str, is_batch: bool) -> Slot:
        """Where an argument goes: the batch as it comes in, else a module's input."""
        name = self.name
        role = f"in[{key}]{path}" if isinstance(key, int) else f"in.{key}{path}"
        group, full, component = Group.FORWARD, f"{name.path}.{role}", name.path
        location = name.location
        if is_batch:
            # The line that hands the batch over says more than the one where it arrives.
            group, full, component = Group.DATA, f"data.{name.path}.{role}", "data"
            location = caller() or location
        found = self.inputs[(key, path) if path else key] = self._recorder.slot(
            group, full, component, role, "", location, name.kind
        )
        return found

    def output(self, path: str) -> tuple[Slot, GradientHook]:
        """Where an output goes, and the hook for its gradient."""
        found = self._outputs.get(path)
        if found is None:
            name, role = self.name, f"out{path}"
            slot = self._recorder.slot(
                Group.FORWARD, f"{name.path}.{role}", name.path, role, "", name.location, name.kind
            )
            found = self._outputs[path] = (slot, self._gradients.hook_for(name, role))
            self.bare_output = self._outputs.get("")
        return found
