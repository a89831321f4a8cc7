"""Seeding calls: who seeded which generator, with what, at which line.

The wrappers call through and return what the original returns; they note, and nothing else.
"""

import functools
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from probes.names import short_path

Note = Callable[[str, str, str], None]
"""Called with (call, argument, location)."""

_SEEDERS: tuple[tuple[str, Any, str], ...] = (
    ("random.seed", random, "seed"),
    ("numpy.random.seed", np.random, "seed"),
    ("numpy.random.default_rng", np.random, "default_rng"),
    ("torch.manual_seed", torch, "manual_seed"),
    ("torch.seed", torch, "seed"),
    ("torch.cuda.manual_seed", torch.cuda, "manual_seed"),
    ("torch.cuda.manual_seed_all", torch.cuda, "manual_seed_all"),
)
"""(name in the run, owner, attribute). Methods of C types such as torch.Generator cannot be
replaced and are not seen."""


class SeedingCalls:
    """Notes seeding calls while installed."""

    def __init__(self, note: Note) -> None:
        """Install the wrappers."""
        self._note = note
        self._pairs: list[tuple[Any, str, Any, Any]] = []
        for name, owner, attribute in _SEEDERS:
            original = getattr(owner, attribute)
            wrapper = self._wrap(name, original)
            setattr(owner, attribute, wrapper)
            self._pairs.append((owner, attribute, original, wrapper))

    def remove(self) -> None:
        """Put the originals back, unless somebody else replaced them since."""
        for owner, attribute, original, wrapper in self._pairs:
            if getattr(owner, attribute) is wrapper:
                setattr(owner, attribute, original)
        self._pairs.clear()

    def _wrap(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not torch.compiler.is_compiling():
                argument = args[0] if args else next(iter(kwargs.values()), None)
                text = repr(argument) if isinstance(argument, (int, float, str)) else "entropy"
                if argument is not None and text == "entropy":
                    text = type(argument).__name__
                self._note(name, text[:100], caller())
            return original(*args, **kwargs)

        return wrapper


def caller() -> str:
    """``file:line`` of the nearest frame outside torch, numpy, the standard library and probes."""
    frame = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("torch", "numpy", "random", "probes", "functools", "contextlib"):
            return f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""
