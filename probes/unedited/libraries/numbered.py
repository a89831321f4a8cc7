"""Names for objects that have none: by order of first use, which twins share."""

from probes.while_alive import WhileAlive


class Numbered:
    """``loader``, ``loader[1]``, ...: one name for each living object."""

    def __init__(self, name: str) -> None:
        """Number objects under a common name."""
        self._name = name
        self._count = 0
        self._names: WhileAlive[str] = WhileAlive()

    def of(self, thing: object) -> str:
        """The name of an object, the same as long as it lives."""
        known = self._names.get(id(thing))
        if known is None:
            name = f"{self._name}[{self._count}]" if self._count else self._name
            self._count += 1
            known = self._names.keep(thing, name)
        return known
