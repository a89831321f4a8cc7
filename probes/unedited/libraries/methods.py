"""Hooks on methods of a library's classes and of all that derive from them, now or later.

Overridden methods call each other up and down a tree of classes, and wrappers call what they
wrap: what the outermost call returns is what the program gets, so that alone is recorded.
"""

import contextlib
import functools
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

After = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]
"""Called with the instance, its arguments and the result; what it raises stays with us."""


Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
"""Called with the instance and its arguments."""


class Depth(threading.local):
    """How many hooked calls are going on in this thread."""

    value = 0


def hook(base: type, methods: dict[str, After], depth: Depth | None = None) -> None:
    """Hook methods of a class, of its subclasses, and of those that are still to be made.

    Args:
        base: the class.
        methods: name -> what is called after the outermost call returned.
        depth: shared with other trees whose calls nest in this one's.
    """
    depth = depth or Depth()

    def hook_one(kind: type) -> None:
        for name, after in methods.items():
            original = kind.__dict__.get(name)
            if isinstance(original, FunctionType):
                setattr(kind, name, _wrapped(original, after, depth))

    for kind in _tree(base):
        hook_one(kind)
    _hook_later_ones(base, hook_one)


def hook_before(base: type, name: str, before: Before) -> None:
    """Call something before the outermost call of a method, which may change the keywords.

    Args:
        base: the class, hooked with all its subclasses.
        name: the method.
        before: called with the instance and its arguments; what it raises stays with us.
    """
    depth = Depth()

    def hook_one(kind: type) -> None:
        original = kind.__dict__.get(name)
        if not isinstance(original, FunctionType):
            return

        @functools.wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not depth.value:
                with contextlib.suppress(Exception):
                    before(self, args, kwargs)
            depth.value += 1
            try:
                return original(self, *args, **kwargs)
            finally:
                depth.value -= 1

        setattr(kind, name, method)

    for kind in _tree(base):
        hook_one(kind)
    _hook_later_ones(base, hook_one)


def _wrapped(original: FunctionType, after: After, depth: Depth) -> Callable[..., Any]:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if depth.value:
            return original(self, *args, **kwargs)
        depth.value += 1
        try:
            result = original(self, *args, **kwargs)
        finally:
            depth.value -= 1
        # What a library hands over may be of any shape: that is never the program's trouble.
        with contextlib.suppress(Exception):
            after(self, args, kwargs, result)
        return result

    return method


def _tree(base: type) -> list[type]:
    found: list[type] = [base]
    for kind in found:
        subclasses: list[type] = type.__subclasses__(kind)
        found += [below for below in subclasses if below not in found]
    return found


def _hook_later_ones(base: type, hook_one: Callable[[type], None]) -> None:
    own = base.__dict__.get("__init_subclass__")
    changed: Any = base

    def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:  # noqa: N807
        if own is not None:
            own.__func__(cls, **kwargs)
        else:
            super(changed, cls).__init_subclass__(**kwargs)
        hook_one(cls)

    changed.__init_subclass__ = classmethod(__init_subclass__)
