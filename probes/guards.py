"""Guards around hooks, and what is going on at the moment of an event."""

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import torch
from torch._C import DisableTorchFunction
from torch.compiler import is_compiling

from bisect_debugger.format.schema import EventFlag

P = ParamSpec("P")

_NO_GRAD = int(EventFlag.NO_GRAD)


class Guarding(Protocol):
    """What a guard asks of a recorder."""

    active: bool

    def fail_with(self, error: Exception) -> None:
        """Stop recording for an error of our own."""


class HasRecorder(Protocol):
    """A probe: something with a recorder."""

    @property
    def recorder(self) -> Guarding:
        """Where the probe's events go."""


S = TypeVar("S", bound=HasRecorder)


def guarded(
    function: Callable[Concatenate[S, P], None],
) -> Callable[Concatenate[S, P], None]:
    """Make a hook that returns at once while inactive and never raises into the trainer."""

    @functools.wraps(function)
    def hook(probe: S, /, *args: P.args, **kwargs: P.kwargs) -> None:
        # First of all: anything else would become part of the program that is compiled.
        if is_compiling() or not probe.recorder.active:
            return
        try:
            # A trainer's own modes and classes of tensors must not notice being looked at.
            with DisableTorchFunction():
                function(probe, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            probe.recorder.fail_with(error)

    return hook


def flags_now() -> int:
    """Circumstances of an event at this moment, as `EventFlag` bits."""
    return 0 if torch.is_grad_enabled() else _NO_GRAD


def in_backward() -> bool:
    """An autograd engine is at work in this thread."""
    return torch._C._current_graph_task_id() != -1
