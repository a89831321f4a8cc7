"""The ledger: which buffers carry which origins' difference at this moment of the walk.

A difference spreads along what a buffer was computed from. The ledger holds, per buffer, the
set of origins that its current value may owe its difference to; an event that is equal again
clears its buffer.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bisect_debugger.format.groups import Group
from bisect_debugger.twins.model import Row

Origins = frozenset[int]
"""Indices of origins."""

NONE: Origins = frozenset()

_TELLING_ELEMENTS = 4
_COUNTS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
"""Small counts coincide by accident: their content says nothing about where it came from."""

_WITHIN_STEP = (
    Group.DATA,
    Group.FORWARD,
    Group.LOSS,
    Group.GRAD_OUT,
    Group.GRAD_SCRATCH,
    Group.USER,
)
"""Groups whose buffers are computed anew in each step: what they held before is gone."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A differing buffer: the row where it was last seen and the origins it may owe it to."""

    row: Row
    origins: Origins


class Ledger:
    """Taints by buffer, for the current value and for the step as a whole."""

    def __init__(self) -> None:
        """Begin with nothing tainted."""
        self._current: dict[Group, dict[str, Taint]] = {group: {} for group in Group}
        self._in_step: dict[Group, dict[str, Taint]] = {group: {} for group in Group}
        self._by_content: dict[tuple[object, object], Taint] = {}
        self._loaded: dict[str, Taint] = {}
        self._returned: dict[str, Taint] = {}
        self._contributed: dict[str, Taint] = {}
        self._backward_over = False
        self.ever_loaded: Origins = NONE
        """Origins in anything that a data loader returned, in this step or an earlier one."""
        self.past: Origins = NONE
        """Origins that reached a forward, a loss or a parameter in an earlier step."""

    def begin_step(self) -> None:
        """Forget what is computed anew in each step."""
        for group in (Group.FORWARD, Group.LOSS, Group.PARAM):
            for taint in self._in_step[group].values():
                self.past |= taint.origins
                if group is Group.FORWARD and taint.row.role.startswith("out"):
                    self._returned[taint.row.name] = taint
        for group in Group:
            self._in_step[group] = {}
        for group in _WITHIN_STEP:
            self._current[group] = {}
        self._current[Group.DATA].update(self._loaded)
        self._by_content = {}

    def taint(self, row: Row, origins: Origins) -> None:
        """Note that a differing event owes its difference to these origins."""
        entry = Taint(row, origins)
        self._follow_backward(row)
        if row.group is Group.GRAD_SCRATCH:
            earlier = self._contributed.get(row.name)
            joined = origins | earlier.origins if earlier else origins
            self._contributed[row.name] = Taint(row, joined)
        self._current[row.group][row.name] = entry
        if is_loaded(row):
            # A loader returns its batch before the step that uses it.
            self._loaded[row.name] = entry
            self.ever_loaded |= origins
        before = self._in_step[row.group].get(row.name)
        joined = origins | before.origins if before else origins
        self._in_step[row.group][row.name] = Taint(row, joined)
        content = _content(row)
        if content is not None:
            self._by_content.setdefault(content, entry)

    def clear(self, row: Row) -> None:
        """Note that an event is equal: its buffer carries nothing any more."""
        self._follow_backward(row)
        self._current[row.group].pop(row.name, None)
        self._loaded.pop(row.name, None)
        if row.group is Group.FORWARD:
            self._returned.pop(row.name, None)

    def _follow_backward(self, row: Row) -> None:
        """Contributions last until others follow an optimizer's step.

        Of several optimizers each closes a step of its own: the contributions that the second one
        sees stand in a step of the first.
        """
        if row.group is Group.GRAD_SCRATCH and self._backward_over:
            self._contributed = {}
        if row.group in (Group.GRAD_SCRATCH, Group.GRAD):
            self._backward_over = row.group is Group.GRAD

    def contributed(self, accept: Callable[[Row], bool]) -> Origins:
        """Origins in contributions since an optimizer last saw gradients, whose row is accepted."""
        found = (entry.origins for entry in self._contributed.values() if accept(entry.row))
        return NONE.union(*found)

    def current(self, group: Group, name: str) -> Origins:
        """Origins in the buffer's current value."""
        entry = self._current[group].get(name)
        return entry.origins if entry else NONE

    def in_step(self, group: Group, name: str) -> Origins:
        """Origins in any value that the buffer held in this step."""
        entry = self._in_step[group].get(name)
        return entry.origins if entry else NONE

    def same_content(self, row: Row) -> Origins:
        """Origins of an earlier event of this step with the same content on both sides.

        A copy is explained by what it is a copy of: a container's output is its last child's.
        """
        content = _content(row)
        entry = self._by_content.get(content) if content is not None else None
        return entry.origins if entry else NONE

    def kept(self, accept: Callable[[Row], bool]) -> Origins:
        """Origins in the last values of outputs of earlier steps whose row is accepted."""
        found = (entry.origins for entry in self._returned.values() if accept(entry.row))
        return NONE.union(*found)

    def where(self, groups: Iterable[Group], accept: Callable[[Row], bool]) -> Origins:
        """Origins in current values of these groups whose row is accepted."""
        return self._union(self._current, groups, accept)

    def where_in_step(self, groups: Iterable[Group], accept: Callable[[Row], bool]) -> Origins:
        """The same over every value held in this step."""
        return self._union(self._in_step, groups, accept)

    @staticmethod
    def _union(
        table: dict[Group, dict[str, Taint]],
        groups: Iterable[Group],
        accept: Callable[[Row], bool],
    ) -> Origins:
        found: set[int] = set()
        for group in groups:
            for entry in table[group].values():
                if accept(entry.row):
                    found |= entry.origins
        return frozenset(found)


def is_loaded(row: Row) -> bool:
    """A batch as a data loader returned it, before it enters a model."""
    return row.group is Group.DATA and row.name.startswith("loader.")


def same_bits(one: Row, other: Row) -> bool:
    """Both runs hold the same content in both events, and it is telling."""
    content = _content(one)
    return content is not None and content == _content(other)


def _content(row: Row) -> tuple[object, object] | None:
    if row.a is None or row.b is None:
        return None
    if row.a.layout.elements < _TELLING_ELEMENTS and row.a.layout.dtype in _COUNTS:
        return None
    return (row.a.digest, row.b.digest)
