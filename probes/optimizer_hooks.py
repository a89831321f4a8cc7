"""Optimizer hooks: gradients as the optimizer sees them, its state, and the parameters after.

A step of a run is the work that one `optimizer.step()` closes, so these hooks are also the
clock of the recording.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from bisect_debugger.errors import UsageError
from bisect_debugger.format.groups import Group
from probes.content import leaves
from probes.names import Names, TensorName, kind_of
from probes.recorder import Recorder, guarded

Optimizers = torch.optim.Optimizer | Iterable[torch.optim.Optimizer] | Mapping[str, Any] | None


class OptimizerHooks:
    """Hooks on every optimizer's step."""

    def __init__(
        self,
        recorder: Recorder,
        names: Names,
        optimizers: dict[str, torch.optim.Optimizer],
        *,
        before: Callable[[], None],
        after: Callable[[], None],
    ) -> None:
        """Hook the optimizers.

        Args:
            recorder: where events go.
            names: names of the parameters.
            optimizers: by name.
            before: called before a step, ahead of the gradients.
            after: called after a step, behind the optimizer's state.
        """
        self.recorder = recorder
        self._names = names.parameters
        self._optimizers = optimizers
        self._label = {id(optimizer): name for name, optimizer in optimizers.items()}
        self._number = {id(optimizer): i for i, optimizer in enumerate(optimizers.values())}
        self._before_step = before
        self._after_step = after
        self._handles: list[RemovableHandle] = []
        for optimizer in optimizers.values():
            self._handles += [
                optimizer.register_step_pre_hook(self._before),
                optimizer.register_step_post_hook(self._after),
            ]

    def remove(self) -> None:
        """Take all hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _before(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._gradients(optimizer)

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._state(optimizer)
        self._close(optimizer)

    @guarded
    def _gradients(self, optimizer: torch.optim.Optimizer) -> None:
        self.recorder.begin_step()
        self._before_step()
        for parameter, name in self._parameters(optimizer):
            if parameter.grad is not None:
                self.recorder.value(
                    Group.GRAD,
                    f"{name.name}.grad",
                    name.owner.path,
                    name.role,
                    parameter.grad,
                    subject=name.name,
                    location=name.owner.location,
                    kind=name.owner.kind,
                )

    @guarded
    def _state(self, optimizer: torch.optim.Optimizer) -> None:
        component, kind = self._label[id(optimizer)], kind_of(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            for key, value in group.items():
                if key == "params":
                    continue
                for path, leaf in leaves(value):
                    if isinstance(leaf, (float, int, torch.Tensor)) and not isinstance(leaf, bool):
                        name = f"{component}.group[{index}].{key}{path}"
                        self.recorder.value(
                            Group.OPTIM, name, component, f"{key}{path}", leaf, kind=kind
                        )
        for parameter, named in self._parameters(optimizer):
            for key, value in optimizer.state.get(parameter, {}).items():
                for path, leaf in leaves(value):
                    if isinstance(leaf, (float, int, torch.Tensor)):
                        self.recorder.value(
                            Group.OPTIM,
                            f"{component}.{key}{path}[{named.name}]",
                            component,
                            f"{key}{path}",
                            leaf,
                            subject=named.name,
                            kind=kind,
                        )
        self._after_step()

    def _close(self, optimizer: torch.optim.Optimizer) -> None:
        # The clock runs outside the window too, and after a failure it costs nothing.
        if not self.recorder.closed:
            self.recorder.end_step(self._number[id(optimizer)])

    def _parameters(
        self, optimizer: torch.optim.Optimizer
    ) -> Iterable[tuple[torch.Tensor, TensorName]]:
        """The optimizer's parameters in its own order, also those of no named module."""
        position = 0
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                name = self._names.get(parameter)
                if name is None:
                    name = _unnamed(self._label[id(optimizer)], position)
                yield parameter, name
                position += 1


def named_optimizers(optimizers: Optimizers) -> dict[str, torch.optim.Optimizer]:
    """Optimizers by name: ``optimizer`` for one, ``optimizer[i]`` for several, keys of a dict.

    Raises:
        UsageError: something handed over is not an optimizer.
    """
    if optimizers is None:
        return {}
    if isinstance(optimizers, torch.optim.Optimizer):
        return {"optimizer": optimizers}
    if isinstance(optimizers, Mapping):
        named = {str(name): optimizer for name, optimizer in optimizers.items()}
    else:
        found = list(optimizers)
        named = {
            "optimizer" if len(found) == 1 else f"optimizer[{index}]": optimizer
            for index, optimizer in enumerate(found)
        }
    for name, optimizer in named.items():
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise UsageError(
                f"attach was given a {type(optimizer).__name__} as {name!r}, which is not a "
                "torch.optim.Optimizer; hand over the optimizer that steps the model."
            )
    return named


def _unnamed(component: str, position: int) -> TensorName:
    from probes.names import ModuleName

    owner = ModuleName(component, component, False, "", "")
    return TensorName(f"{component}.param[{position}]", owner, f"param[{position}]")
