"""The mode in threads of the program: what begins while a step is zoomed into is seen as well.

A dispatch mode belongs to one thread. Threads that race for a tensor are a fault that zoom is
there for, so threads that are started, and tasks that a pool begins, get the mode for as long as
they run.
"""

import functools
import threading
from collections.abc import Callable
from concurrent.futures import thread as pools
from typing import Any

from torch._C import _get_dispatch_stack_at, _len_torch_dispatch_stack
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from probes.stand_ins import beneath, retire

_BEGINNINGS: tuple[tuple[Any, str], ...] = (
    (threading.Thread, "_bootstrap_inner"),
    (pools._WorkItem, "run"),
)
"""Where the work of a thread, and of a task in a pool, begins."""


class InThreads:
    """Puts a mode into threads that begin."""

    def __init__(self, mode: TorchDispatchMode) -> None:
        """Begin."""
        self._mode: TorchDispatchMode | None = mode
        self._installed = []
        for owner, name in _BEGINNINGS:
            original = getattr(owner, name, None)
            if original is not None:
                stand_in = self._wrapped(original)
                setattr(owner, name, stand_in)
                self._installed.append((owner, name, original, stand_in))

    def remove(self) -> None:
        """Threads that begin from now on do not get it."""
        self._mode = None
        for owner, name, original, stand_in in self._installed:
            if getattr(owner, name) is stand_in:
                setattr(owner, name, beneath(original))
            else:
                retire(stand_in, original)

    def _wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def begin(*args: Any, **kwargs: Any) -> Any:
            mode = self._mode
            if mode is None or _len_torch_dispatch_stack():
                return original(*args, **kwargs)
            _push_mode(mode)
            try:
                return original(*args, **kwargs)
            finally:
                take_out(mode)

        return begin


def take_out(mode: TorchDispatchMode) -> None:
    """Take a mode out of this thread's stack; those above it, the program's own, stay."""
    above = []
    while any(_get_dispatch_stack_at(i) is mode for i in range(_len_torch_dispatch_stack())):
        one = _pop_mode()
        if one is not mode:
            above.append(one)
    for one in reversed(above):
        _push_mode(one)
