"""What is known of objects, for as long as they live and no longer.

Objects are told apart by identity: a module or a buffer may compare by value, or be unhashable.
"""

import weakref
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class WhileAlive(dict[int, V], Generic[V]):
    """Values by the id of an object; an entry goes when its object does.

    A plain dict to read from, because hooks do so at every call.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        super().__init__()
        self._watched: dict[int, Any] = {}

    def keep(self, thing: object, value: V) -> V:
        """Know a value of an object until it is gone; the value."""
        key = id(thing)

        def forget(gone: object) -> None:
            # Another object may have the id by now.
            if self._watched.get(key) is gone:
                self._watched.pop(key, None)
                self.pop(key, None)

        try:
            self._watched[key] = weakref.ref(thing, forget)
        except TypeError:
            # It cannot be watched, so it is kept: its id must not become another's.
            self._watched[key] = thing
        self[key] = value
        return value

    def drop(self, thing: object) -> None:
        """Know nothing of an object any more."""
        self._watched.pop(id(thing), None)
        self.pop(id(thing), None)

    def clear(self) -> None:
        """Know nothing any more."""
        self._watched.clear()
        super().clear()
