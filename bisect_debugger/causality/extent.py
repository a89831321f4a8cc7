"""How far an origin reaches: the component that it is, and what counts as another one."""

from collections.abc import Sequence
from typing import Protocol

from bisect_debugger.causality.constants import is_constant
from bisect_debugger.causality.names import ancestors, is_under, related, root_of_batch
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.twins.model import Row


class Beginning(Protocol):
    """Where an origin began."""

    row: Row
    component: str
    siblings_equal: int


def is_elsewhere(row: Row, found: Beginning) -> bool:
    """The event's component is another than the origin's, and does not merely hold it."""
    if not related(row.component, found.component):
        return True
    # A parameter that a container holds itself is not what the modules in it are.
    is_own = found.row.group is Group.PARAM and found.component == found.row.component
    is_inner = row.component != found.component and is_under(row.component, found.component)
    return is_own and is_inner and found.siblings_equal > 0


def decides_order(row: Row, rows: Sequence[Row]) -> str:
    """The component that decides the order in which this event stands."""
    if row.group not in (Group.GRAD, Group.OPTIM):
        return row.component
    return next((r.component for r in rows if r.group is Group.OPTIM), "optimizer")


def made_by(row: Row, rows: Sequence[Row]) -> str:
    """The module whose code made the value of an origin: inputs are made by who calls.

    Args:
        row: the origin.
        rows: of its step.
    """
    if row.group is not Group.FORWARD or not row.role.startswith("in"):
        return row.component
    ran = {
        root_of_batch(other.name) if other.group is Group.DATA else other.component
        for other in rows
        if other.group in (Group.FORWARD, Group.DATA)
    }
    return next((each for each in ancestors(row.component) if each in ran), row.component)


def says_nothing(row: Row) -> bool:
    """Equal because it is constant, not because a seed made it so."""
    return row.group is Group.PARAM and not row.status.diverges and is_constant(row)


def affected_component(row: Row, rows: Sequence[Row]) -> str:
    """The widest module that is affected throughout: a differing parameter in every part of it."""
    if not row.is_first_value:
        return row.component
    drawn = [r for r in rows if r.is_first_value and not says_nothing(r)]
    known = {r.component for r in rows if r.group is Group.PARAM} - {r.component for r in drawn}
    for ancestor in reversed(ancestors(row.component)):
        if row.step != INIT_STEP and any(is_under(component, ancestor) for component in known):
            # Of a module that was there before, only a part appeared.
            continue
        parts = {r.component for r in drawn if is_under(r.component, ancestor)}
        if parts == {r.component for r in drawn if r.component in parts and r.status.diverges}:
            return ancestor
    return row.component
