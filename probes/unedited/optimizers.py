"""Every optimizer's steps, through torch's global hooks; numbered by order of first step."""

from collections.abc import Callable
from typing import Any

import torch
from torch.compiler import is_compiling
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from probes.compiled_steps import note_compiled_step
from probes.optimizer_hooks import OptimizerHooks, OptimizerProbe
from probes.recorder import Recorder
from probes.while_alive import WhileAlive


class AllOptimizers:
    """Global hooks that hand each optimizer's steps to a probe of its own."""

    def __init__(
        self,
        recorder: Recorder,
        hooks: OptimizerHooks,
        name_of: Callable[[torch.optim.Optimizer, int], str],
    ) -> None:
        """Hook every optimizer there is and will be.

        Args:
            recorder: where events go.
            hooks: makes the probes.
            name_of: what an optimizer is called, given its number.
        """
        self._recorder, self._hooks, self._name_of = recorder, hooks, name_of
        self._probes: WhileAlive[OptimizerProbe] = WhileAlive()
        self._count = 0
        self._handles = [
            register_optimizer_step_pre_hook(self._before),
            register_optimizer_step_post_hook(self._after),
        ]

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._probes.clear()

    def _before(
        self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any
    ) -> tuple[Any, Any] | None:
        if is_compiling():
            note_compiled_step()
            return None
        probe = self._probe_of(optimizer)
        return None if probe is None else probe.before(optimizer, args, kwargs)

    def _after(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if is_compiling():
            return
        probe = self._probes.get(id(optimizer))
        if probe is not None:
            probe.after(optimizer, args, kwargs)

    def _probe_of(self, optimizer: torch.optim.Optimizer) -> OptimizerProbe | None:
        probe = self._probes.get(id(optimizer))
        if probe is None and not self._recorder.closed:
            try:
                probe = self._introduce(optimizer)
            except Exception as error:  # noqa: BLE001 - a probe must never change the run
                self._recorder.fail_with(error)
        return probe

    def _introduce(self, optimizer: torch.optim.Optimizer) -> OptimizerProbe:
        name = self._name_of(optimizer, self._count)
        probe = self._hooks.probe(name, optimizer, self._count)
        self._count += 1
        return self._probes.keep(optimizer, probe)
