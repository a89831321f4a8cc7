"""Seeding calls: who seeded which generator, with what, at which line.

The wrappers call through and return what the original returns; they note, and nothing else.
Not seen are the methods of C classes (`torch.Generator.manual_seed`, `numpy.random.RandomState`),
which cannot be replaced, and functions that were imported by name before the recording began.
"""

import functools
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from probes.names import short_path

Note = Callable[[str, str, str], None]
"""Called with (call, argument, location)."""

SEEDERS: tuple[tuple[str, Any, str], ...] = (
    ("random.seed", random, "seed"),
    ("numpy.random.seed", np.random, "seed"),
    ("numpy.random.default_rng", np.random, "default_rng"),
    ("torch.manual_seed", torch, "manual_seed"),
    ("torch.manual_seed", torch.random, "manual_seed"),
    ("torch.seed", torch, "seed"),
    ("torch.seed", torch.random, "seed"),
    *(
        (f"torch.{backend}.{call}", getattr(torch, backend, None), call)
        for backend in ("cuda", "mps", "xpu", "mtia")
        for call in ("manual_seed", "manual_seed_all", "seed", "seed_all")
    ),
)
"""(name in the run, owner, attribute)."""

ENTROPY = "entropy"
"""The argument of a call that takes its seed from the system."""

_OURS_AND_BELOW = frozenset(
    ("torch", "numpy", "random", "probes", "functools", "contextlib", "threading")
)


class SeedingCalls:
    """Notes seeding calls while installed."""

    def __init__(self, note: Note) -> None:
        """Install the wrappers.

        Args:
            note: called once per call that the trainer made; not for the calls that torch
                makes in turn.
        """
        self._note = note
        self._inside = threading.local()
        self._pairs: list[tuple[Any, str, Any, Any]] = []
        for name, owner, attribute in SEEDERS:
            original = getattr(owner, attribute, None)
            if original is not None:
                wrapper = self._wrap(name, original)
                setattr(owner, attribute, wrapper)
                self._pairs.append((owner, attribute, original, wrapper))

    def remove(self) -> None:
        """Put the originals back, unless somebody else replaced them since."""
        for owner, attribute, original, wrapper in self._pairs:
            if getattr(owner, attribute, None) is wrapper:
                setattr(owner, attribute, original)
        self._pairs.clear()

    def _wrap(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # Asked first, so that a compiled program depends on nothing else in here.
            if torch.compiler.is_compiling():
                return original(*args, **kwargs)
            if not self._pairs or getattr(self._inside, "a_call", False):
                return original(*args, **kwargs)
            argument = args[0] if args else next(iter(kwargs.values()), None)
            self._note(name, _shown(argument), caller())
            self._inside.a_call = True
            try:
                return original(*args, **kwargs)
            finally:
                self._inside.a_call = False

        return wrapper


def caller(libraries: frozenset[str] = frozenset()) -> str:
    """``file:line`` of the nearest frame outside torch, numpy, the standard library and probes.

    Args:
        libraries: further top-level packages that are not meant.
    """
    frame = sys._getframe(1)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _OURS_AND_BELOW and package not in libraries:
            return f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""


def _shown(argument: object) -> str:
    if argument is None:
        return ENTROPY
    if isinstance(argument, np.integer):
        argument = int(argument)
    if isinstance(argument, (int, float, str, bytes, list, tuple)):
        text = repr(argument)
        return text if len(text) <= 100 else f"{text[:99]}…"
    return type(argument).__name__
