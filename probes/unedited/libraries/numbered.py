"""Names for objects that have none: by order of first use, which twins share."""

import weakref
from typing import Any


class Numbered:
    """``loader``, ``loader[1]``, ...: one name for each living object."""

    def __init__(self, name: str) -> None:
        """Number objects under a common name."""
        self._name = name
        self._count = 0
        self._names: dict[int, tuple[Any, str]] = {}

    def of(self, thing: object) -> str:
        """The name of an object, the same as long as it lives."""
        key = id(thing)
        known = self._names.get(key)
        if known is None:
            name = f"{self._name}[{self._count}]" if self._count else self._name
            self._count += 1
            known = self._names[key] = (self._until_gone(key, thing), name)
        return known[1]

    def _until_gone(self, key: int, thing: object) -> Any:
        try:
            return weakref.ref(thing, lambda gone: self._names.pop(key, None) and None)
        except TypeError:
            # It cannot be watched, so it is kept: its id must not become another's.
            return thing
