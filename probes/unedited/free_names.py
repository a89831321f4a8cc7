"""Names that two things must not have at once, given out without asking who is still alive.

A thing in a reference cycle lives until Python's garbage collector comes by, and when that is
differs from run to run. A name that depended on it would make equal runs look different. So a
name is told by what the program does: by the line that created a thing, and by the step in which
it was named.
"""

import weakref
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class _Holder:
    """Who has a name.

    Attributes:
        thing: a weak reference to it.
        origin: the line that created it, or empty.
        step: the step in which it was named.
    """

    thing: Any
    origin: str
    step: int


class FreeNames:
    """Gives out names."""

    def __init__(self) -> None:
        """Nothing has a name yet."""
        self._holders: dict[str, list[_Holder]] = {}

    def name(
        self, path: str, thing: object, origin: str, step: int, *, shared: bool = False
    ) -> str:
        """The path, with a number where others of that path are not its predecessors.

        A thing made by the same line in a later step takes its predecessor's name over.

        Args:
            path: what it is called by the program.
            thing: what is to be named.
            origin: the line that created it; empty where nobody saw it.
            step: the step that goes on.
            shared: several of one step may have the name; there is nothing in them to tell apart.
        """
        holders = self._holders.setdefault(path, [])
        for number, holder in enumerate(holders, 1):
            known = holder.thing() is thing
            succeeds = holder.origin == origin and (shared or holder.step != step)
            if known or succeeds:
                if not known:
                    holder.thing, holder.step = weakref.ref(thing), step
                return _numbered(path, number)
        holders.append(_Holder(weakref.ref(thing), origin, step))
        return _numbered(path, len(holders))


def _numbered(path: str, number: int) -> str:
    return path if number == 1 else f"{path}#{number}"
