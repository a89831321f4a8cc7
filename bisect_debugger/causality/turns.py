"""The order in which a program calls its modules, where it is another one in each run."""

from collections.abc import Sequence
from itertools import groupby

from bisect_debugger.causality.case import Case
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group

_SHOWN = 6


def turns_words(case: Case) -> str:
    """What is called beside the module that moved, in the order of each run, as a clause.

    Empty where it is no call of a module, or where these come in the same order.
    """
    if case.row.group is not Group.FORWARD:
        return ""
    parent = case.row.component.rpartition(".")[0]
    sides = [
        (row.a.sequence, row.b.sequence, row.component)
        for row in case.step_rows
        if row.group is Group.FORWARD
        and row.a is not None
        and row.b is not None
        and row.component.rpartition(".")[0] == parent
    ]
    first = _in_order([(a, component) for a, _, component in sides])
    second = _in_order([(b, component) for _, b, component in sides])
    pairs = enumerate(zip(first, second, strict=False))
    begin = next((place for place, (mine, yours) in pairs if mine != yours), None)
    if begin is None:
        return ""
    return f"the first run calls {_shown(first[begin:])}, the second {_shown(second[begin:])}"


def _in_order(events: Sequence[tuple[int, str]]) -> list[str]:
    """Components as they are called; the events of one call are one."""
    return [component for component, _ in groupby(component for _, component in sorted(events))]


def _shown(components: Sequence[str]) -> str:
    names = [printable(component.rpartition(".")[2]) for component in components[:_SHOWN]]
    return ", ".join([*names, "..."] if len(components) > _SHOWN else names)
