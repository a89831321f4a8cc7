"""Calls of modules, heard ahead of their hooks and behind them.

One function stands in for `torch.nn.Module._call_impl`, through which every call of a module goes,
and tells whoever listens. Hooks on the modules themselves would change the run:
`TransformerEncoderLayer` leaves its fused path as soon as a module below it has one, and a copied
or saved model would carry them along. Torch's global hooks would send every call, also those of
modules that nobody records, through three times the Python, and hand on no keyword arguments.
"""

import functools
import os
import sys
import threading
from typing import Any, Protocol

import torch
from torch.compiler import is_compiling

from probes.stand_ins import beneath, retire

CALL = torch.nn.Module._call_impl.__code__
"""The code of torch's own: each call of a module that goes on has a frame of it."""


_DYNAMO = ("torch._dynamo.utils", "torch._dynamo.variables.nn_module")
_UNPATCHED = "unpatched_nn_module_call_impl"


class Listener(Protocol):
    """Hears of calls; it never raises."""

    def before(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """A module is called with these; its hooks have not run yet."""

    def after(self, module: torch.nn.Module, output: Any) -> None:
        """It returned this, its hooks have run; not called where it raised."""


def listen(listener: Listener) -> None:
    """Tell this one of every call that begins or ends from now on."""
    global _standing  # noqa: PLW0603 - one stand-in for the whole process
    with _lock:
        if not (_standing.stands or _standing.stand()):
            _standing = _Standing()
            _standing.stand()
        if listener not in _standing.listeners:
            _standing.listeners = (*_standing.listeners, listener)


def ignore(listener: Listener) -> None:
    """Tell this one no more; the last one to go takes the stand-in away."""
    with _lock:
        _standing.listeners = tuple(one for one in _standing.listeners if one is not listener)
        if _standing.stands and not _standing.listeners:
            _standing.remove()


def listens(listener: Listener) -> bool:
    """It is told of calls."""
    return listener in _standing.listeners


class _Standing:
    """The stand-in while somebody listens. One that was taken away passes calls on."""

    def __init__(self) -> None:
        """Not installed yet."""
        self.listeners: tuple[Listener, ...] = ()
        self.stands = self._retired = False
        self._original = torch.nn.Module._call_impl
        self._stand_in = _telling(self, self._original)

    def stand(self) -> bool:
        """Install, where what it was made over is there: calls that go on are heard on."""
        if self._retired or torch.nn.Module._call_impl is not self._original:
            return False
        torch.nn.Module._call_impl = self._stand_in  # type: ignore[method-assign]
        _pass_for(self._stand_in, self._original)
        self.stands = True
        return True

    def remove(self) -> None:
        """Put torch's own function back."""
        self.stands = False
        below = beneath(self._original)
        if torch.nn.Module._call_impl is self._stand_in:
            torch.nn.Module._call_impl = below  # type: ignore[method-assign]
        else:
            retire(self._stand_in, self._original)
            self._retired = True
        _pass_for(below, self._stand_in)


def _pass_for(function: object, known: object) -> None:
    """Let dynamo, where it is imported, take one function for the other, which it knows.

    It goes a short way through a module whose call is torch's own, and else compiles the call into
    the graph, and compiles again as soon as another one stands there.
    """
    for name in _DYNAMO:
        module = sys.modules.get(name)
        if getattr(module, _UNPATCHED, None) is known:
            setattr(module, _UNPATCHED, function)


def _telling(standing: _Standing, original: Any) -> Any:
    @functools.wraps(original)
    def call(module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> Any:
        # First of all: anything else would become part of the program that is compiled.
        if is_compiling():
            return original(module, *args, **kwargs)
        for listener in standing.listeners:
            listener.before(module, args, kwargs)
        output = original(module, *args, **kwargs)
        # Asked anew: a recording may have begun, or ended, within the call.
        for listener in standing.listeners:
            listener.after(module, output)
        return output

    return call


def _unlock_child() -> None:
    """A thread of the parent may have held it."""
    global _lock  # noqa: PLW0603 - one for the whole process
    _lock = threading.RLock()


_lock = threading.RLock()
os.register_at_fork(after_in_child=_unlock_child)
_standing = _Standing()
