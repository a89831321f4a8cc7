"""What came lately, by digest, in bounds of memory however long a run is."""

from typing import Generic, TypeVar

V = TypeVar("V")


class Lately(Generic[V]):
    """Values by digest: the last ones, at least as many as one generation holds."""

    def __init__(self, generation: int) -> None:
        """Know none.

        Args:
            generation: entries of one generation; two are known, and the older one goes as a whole.
        """
        self._generation = generation
        self._new: dict[bytes, V] = {}
        self._old: dict[bytes, V] = {}

    def get(self, digest: bytes) -> V | None:
        """The value, or None where it did not come lately."""
        found = self._new.get(digest)
        return self._old.get(digest) if found is None else found

    def keep(self, digest: bytes, value: V) -> None:
        """Know a value."""
        if len(self._new) >= self._generation:
            self._old, self._new = self._new, {}
        self._new[digest] = value
