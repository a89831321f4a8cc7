"""A function or method that stands in for one that seeds, and passes for it.

A trainer may hand it to another process, copy it, or keep it after the recording: what arrives
there is what the original would have been.
"""

import copy
import functools
import importlib
import operator
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any


class Seeder:
    """Stands in for a function that seeds a generator.

    Attributes:
        original: what it stands in for.
        name: what the call is named in a run.
        argument_at: how many positional arguments stand before the seed.
    """

    def __init__(
        self,
        call: Callable[["Seeder", tuple[Any, ...], dict[str, Any]], Any],
        name: str,
        original: Callable[..., Any],
        argument_at: int = 0,
        place: tuple[str, str] | None = None,
    ) -> None:
        """Stand in for a function, without putting it anywhere.

        Args:
            call: makes the call; gets this object and the arguments.
            name: what the call is named in a run.
            original: what it stands in for.
            argument_at: how many positional arguments stand before the seed.
            place: module and dotted name of the original, where it does not tell them.
        """
        functools.update_wrapper(self, original)
        self.original, self.name, self.argument_at = original, name, argument_at
        self._call = call
        self._place = place or (original.__module__, original.__qualname__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do what the original does."""
        # Asked first, so that a compiled program depends on nothing else in here.
        if _is_compiling():
            return self.original(*args, **kwargs)
        return self._call(self, args, kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind as the original does: functions do, bound methods stay what they are."""
        if instance is None or isinstance(self.original, MethodType):
            return self
        return MethodType(self, instance)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        if isinstance(self.original, MethodType):
            return getattr, (self.original.__self__, self.original.__name__)
        module, name = self._place
        return operator.attrgetter(name), (_Module(module),)

    def __copy__(self) -> "Seeder":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        is_bound = isinstance(self.original, MethodType)
        return copy.deepcopy(self.original, memo) if is_bound else self.original

    def __repr__(self) -> str:
        return repr(self.original)


class _Module:
    """Stands for a module where it is saved; modules themselves cannot be."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return importlib.import_module, (self._name,)


def _is_compiling() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "compiler") and torch.compiler.is_compiling()
