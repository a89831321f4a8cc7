"""Optimizer hooks: gradients as the optimizer sees them, its state, and the parameters after.

A step of a run is the work that one `optimizer.step()` closes, so these hooks are also the
clock of the recording.
"""

import functools
import operator
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.utils.hooks import RemovableHandle

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format.groups import Group
from probes.compiled_steps import listen, note_compiled_step
from probes.content import leaves
from probes.names import ModuleName, Names, TensorName, kind_of
from probes.nests import step_of
from probes.recorder import Recorder, guarded
from probes.slots import Form, Slot


class OptimizerHooks:
    """Hooks on the step of each optimizer that was handed over."""

    def __init__(
        self,
        recorder: Recorder,
        names: Names,
        *,
        before: Callable[[], None],
        after: Callable[[Collection[torch.Tensor]], None],
    ) -> None:
        """Hook nothing yet.

        Args:
            recorder: where events go.
            names: names of the parameters.
            before: called before a step, ahead of the gradients.
            after: called after a step, behind the optimizer's state, with the parameters that the
                optimizer holds.
        """
        self._recorder, self._names = recorder, names
        self._before_step, self._after_step = before, after
        self._probes: list[OptimizerProbe] = []
        listen(recorder)

    def add(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        """Hook an optimizer.

        Raises:
            UsageError: it takes no hooks.
        """
        probe = self.probe(name, optimizer, len(self._probes))
        self._probes.append(probe)
        probe.install(optimizer)

    def probe(self, name: str, optimizer: torch.optim.Optimizer, number: int) -> "OptimizerProbe":
        """What records an optimizer's steps, installed nowhere yet.

        Args:
            name: what the optimizer is called in the run.
            optimizer: the optimizer.
            number: its number in the run.
        """
        return OptimizerProbe(self._recorder, self._names, optimizer, name, number, self)

    def remove(self) -> None:
        """Take all hooks away."""
        for probe in self._probes:
            probe.remove()
        self._probes = []

    def before(self) -> None:
        """Do what comes ahead of the gradients."""
        self._before_step()

    def after(self, parameters: Collection[torch.Tensor]) -> None:
        """Do what comes behind the optimizer's state."""
        self._after_step(parameters)


class OptimizerProbe:
    """Records the steps of one optimizer. It does not keep the optimizer alive."""

    def __init__(
        self,
        recorder: Recorder,
        names: Names,
        optimizer: torch.optim.Optimizer,
        component: str,
        number: int,
        owner: OptimizerHooks,
    ) -> None:
        """Record as a component; `OptimizerHooks.probe` makes it."""
        self.recorder = recorder
        self._names, self._component, self._number = names, component, number
        self._kind = kind_of(optimizer)
        self._owner = owner
        self._depth = 0
        self._ports: dict[torch.Tensor, _Port] = {}
        self._bound: list[tuple[torch.Tensor, _Port]] = []
        """The same in the optimizer's order, as it stood last."""
        self._slots: dict[tuple[int, str, str], Slot] = {}
        self._in_force: dict[int, _InForce] = {}
        self._handles: list[RemovableHandle] = []

    def install(self, optimizer: torch.optim.Optimizer) -> None:
        """Hook the optimizer.

        Raises:
            UsageError: it takes no hooks.
        """
        if not hasattr(optimizer, "_optimizer_step_pre_hooks"):
            raise UsageError(
                f"{printable(self._component)}, a {type(optimizer).__name__}, takes no hooks, as a "
                "wrapper around another optimizer does; hand over the optimizer that it wraps."
            )
        self._handles.append(optimizer.register_step_pre_hook(self.before))
        self._handles.append(optimizer.register_step_post_hook(self.after))

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._ports.clear()
        self._bound.clear()

    def before(
        self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any
    ) -> tuple[Any, Any] | None:
        """Record the gradients; called before each step, also the inner ones of a subclass.

        Returns:
            None, or the arguments with a closure that records what it computed: a closure makes
            the gradients only within the step.
        """
        if is_compiling():
            note_compiled_step()
            return None
        if self._depth:
            # A subclass whose step calls its parent's fires twice; one that raised left a trace.
            self._depth = _depth_of(optimizer) - 1
        self._depth += 1
        if self._depth > 1:
            return None
        self.recorder.stepping = True
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if not callable(closure):
            self._gradients(optimizer)
            return None
        return _with_closure(args, kwargs, self._after_closure(optimizer, closure))

    def after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """Record the state and close the run's step; called after each step."""
        if is_compiling():
            return
        self._depth = max(self._depth - 1, 0)
        if self._depth:
            return
        self._state(optimizer)
        # The clock runs outside the window too, and after a failure it costs nothing.
        if not self.recorder.closed:
            self.recorder.end_step(self._number)

    def _after_closure(
        self, optimizer: torch.optim.Optimizer, closure: Callable[[], Any]
    ) -> Callable[[], Any]:
        @functools.wraps(closure)
        def computed() -> Any:
            result = closure()
            self._gradients(optimizer)
            return result

        return computed

    @guarded
    def _gradients(self, optimizer: torch.optim.Optimizer) -> None:
        self.recorder.begin_step(stepping=True)
        if not self.recorder.active:
            return
        self._owner.before()
        gradients = []
        for parameter, port in self._parameters(optimizer):
            gradient = parameter.grad
            if gradient is not None:
                gradients.append((port.gradient, gradient))
        self.recorder.see_all(gradients)

    @guarded
    def _state(self, optimizer: torch.optim.Optimizer) -> None:
        for index, group in enumerate(optimizer.param_groups):
            self._hyper_parameters(index, group)
        self.recorder.see_all(self._all_moments(optimizer))
        self._owner.after(self._ports)

    def _all_moments(self, optimizer: torch.optim.Optimizer) -> list[tuple[Slot, object]]:
        found: list[tuple[Slot, object]] = []
        for parameter, port in self._parameters(optimizer):
            slots = port.moments
            for key, value in _moments(optimizer.state.get(parameter)):
                if type(value) is torch.Tensor and type(key) is str:
                    found.append((slots.get(key) or port.moment(key), value))
                else:
                    for path, leaf in _numbers(value):
                        role = _role(key, path)
                        found.append((slots.get(role) or port.moment(role), leaf))
        return found

    def _hyper_parameters(self, index: int, group: dict[str, Any]) -> None:
        """Record those in force.

        As long as all are the very objects of the step before, which nobody can change, so are
        their digests.
        """
        recorder, known = self.recorder, self._in_force.get(index)
        order = tuple(group)
        if (
            known is not None
            and not recorder.keeps_content
            and order == known.order
            and all(map(operator.is_, map(group.__getitem__, known.keys), known.values))
        ):
            recorder.see_digests(known.events)
            return
        keys = tuple(key for key in order if key != "params")
        values = tuple(map(group.__getitem__, keys))
        seen = [
            (self._hyper_parameter(index, key, path), leaf)
            for key, value in zip(keys, values, strict=True)
            for path, leaf in _numbers(value)
        ]
        recorder.see_all(seen)
        self._in_force.pop(index, None)
        if all(map(_never_changes, values)):
            read = [(slot, slot.read(leaf)) for slot, leaf in seen]
            events = [(slot, *found) for slot, found in read if found is not None]
            if len(events) == len(seen):
                self._in_force[index] = _InForce(order, keys, values, events)

    def _hyper_parameter(self, group: int, key: str, path: str) -> Slot:
        place = (group, key, path)
        found = self._slots.get(place)
        if found is None:
            role = f"{key}{path}"
            name = f"{self._component}.group[{group}].{role}"
            found = self._slots[place] = self.recorder.slot(
                Group.OPTIM, name, self._component, role, kind=self._kind
            )
        return found

    def _parameters(self, optimizer: torch.optim.Optimizer) -> list[tuple[torch.Tensor, "_Port"]]:
        """The optimizer's parameters in its own order, also those of no named module."""
        bound, position = self._bound, 0
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if position == len(bound) or bound[position][0] is not parameter:
                    bound[position:] = [(parameter, self._port(parameter, position))]
                position += 1
        # What left the optimizer is no longer kept alive by it, nor may it be by us.
        del bound[position:]
        if position < len(self._ports):
            self._ports = dict(bound)
        return bound

    def _port(self, parameter: torch.Tensor, position: int) -> "_Port":
        port = self._ports.get(parameter)
        if port is None:
            held = self._names.parameters.get(parameter)
            name = held.name if held else _unnamed(self._component, position)
            port = _Port(self.recorder, name, self._component, self._kind)
            self._ports[parameter] = port
        return port


@dataclass(frozen=True, slots=True)
class _InForce:
    """The hyper-parameters of one group that can only be replaced, and their events."""

    order: tuple[str, ...]
    """Keys of the whole group."""
    keys: tuple[str, ...]
    values: tuple[object, ...]
    events: list[tuple[Slot, bytes, Form]]


class _Port:
    """The slots of one parameter's gradient and moments."""

    __slots__ = ("_component", "_kind", "_name", "_recorder", "gradient", "moments")

    def __init__(self, recorder: Recorder, name: TensorName, component: str, kind: str) -> None:
        self._recorder, self._name = recorder, name
        self._component, self._kind = component, kind
        self.moments: dict[str, Slot] = {}
        self.gradient = recorder.slot(
            Group.GRAD,
            f"{name.name}.grad",
            name.owner.path,
            name.role,
            name.name,
            name.owner.location,
            name.owner.kind,
        )

    def moment(self, key: str) -> Slot:
        """Where a moment of this parameter goes, e.g. ``exp_avg``."""
        found = self.moments[key] = self._recorder.slot(
            Group.OPTIM,
            f"{self._component}.{key}[{self._name.name}]",
            self._component,
            key,
            self._name.name,
            kind=self._kind,
        )
        return found


def _with_closure(args: Any, kwargs: Any, closure: Callable[[], Any]) -> tuple[Any, Any]:
    """Arguments of a step with another closure."""
    if "closure" in kwargs:
        return args, {**kwargs, "closure": closure}
    return (args[0], closure, *args[2:]), kwargs


def _moments(state: Any) -> Iterable[tuple[Any, object]]:
    """What an optimizer keeps of a parameter, by name; a value that is no dict has none."""
    if issubclass(type(state), dict):
        return dict.items(state)
    return () if state is None else (("state", state),)


def _never_changes(value: object) -> bool:
    """What stands there can be replaced by something else, and not be changed."""
    if type(value) is tuple:
        return all(map(_never_changes, value))
    return value is None or type(value) in (float, int, bool, str)


def _role(key: object, path: str) -> str:
    return (key if isinstance(key, str) else step_of(key, 0).removeprefix(".")) + path


def _numbers(value: object) -> Iterable[tuple[str, object]]:
    """The tensors and numbers in a value of an optimizer's; its switches and names are none."""
    if type(value) is torch.Tensor or type(value) is float:
        return (("", value),)
    return (
        (path, leaf)
        for path, leaf in leaves(value)
        if isinstance(leaf, (float, int, torch.Tensor)) and not isinstance(leaf, bool)
    )


def _depth_of(optimizer: torch.optim.Optimizer) -> int:
    """How many calls of the optimizer's hooked step are going on, the one that asks included."""
    depth = 0
    frame = sys._getframe(2)
    while frame is not None:
        inside = frame.f_globals.get("__name__") == torch.optim.Optimizer.__module__
        if inside and frame.f_code.co_name == "wrapper":
            depth += any(given is optimizer for given in frame.f_locals.get("args", ()))
        if frame.f_back is None:
            break
        frame = frame.f_back
    return depth


def _unnamed(component: str, position: int) -> TensorName:
    owner = ModuleName(component, component, False, "", "")
    return TensorName(f"{component}.param[{position}]", owner, f"param[{position}]")
