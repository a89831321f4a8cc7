"""Relations between component paths: ``net.head`` lies under ``net``."""

import re

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row

_ENTERS = re.compile(r"data\.(.+?)\.in[.\[]")
"""A batch: the module that it enters, then the argument; ``input_ids`` is the name of one."""


def is_under(component: str, ancestor: str) -> bool:
    """It is the ancestor itself or lies below it."""
    return component == ancestor or component.startswith(ancestor + ".")


def ancestors(component: str) -> tuple[str, ...]:
    """Every proper ancestor, nearest first: ``a.b.c`` gives ``a.b`` and ``a``."""
    parts = component.split(".")
    return tuple(".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))


def root_of_batch(name: str) -> str:
    """The root module that a batch enters: ``data.model.in[0]`` gives ``model``; or empty."""
    found = _ENTERS.match(name)
    return found[1] if found else ""


def common_ancestor(one: str, other: str) -> str:
    """The nearest component that holds both, or empty where nothing does."""
    holders = (one, *ancestors(one))
    return next((holder for holder in holders if is_under(other, holder)), "")


def related(one: str, other: str) -> bool:
    """One is the other or lies below it."""
    return is_under(one, other) or is_under(other, one)


def written_at_once(one: Row, other: Row) -> bool:
    """Both are parameters that somebody wrote between the same two steps."""
    alike = one.group is Group.PARAM and other.group is Group.PARAM and one.step == other.step
    return alike and EventFlag.OUTSIDE_STEP in one.flags and EventFlag.OUTSIDE_STEP in other.flags


def is_action(row: Row) -> bool:
    """What is handed to a simulator, its component: recorded before the simulator's step."""
    # By its role: what enters a model may be called an action as well.
    return row.group is Group.DATA and row.role.startswith("action")
