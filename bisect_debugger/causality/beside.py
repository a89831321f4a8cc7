"""Threads beside the training: which of them did what is chance, and no difference by itself."""

from collections.abc import Iterable, Sequence

from bisect_debugger.causality.ledger import is_loaded
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row, Seen

_COMPUTED = (Group.DATA, Group.FORWARD, Group.LOSS, Group.GRAD_OUT, Group.GRAD_SCRATCH)
"""Groups of what a call of a module computes. What is loaded or sampled has an order of its own."""

_Content = tuple[Group, Layout, tuple[int, int]]


def exchanged(rows: Sequence[Row]) -> frozenset[int]:
    """Differing events of threads whose contents the other run holds in threads as well.

    Threads that take jobs as they get free exchange them: what one of them computes in one run,
    another does in the other run.

    Args:
        rows: of one step.

    Returns:
        Their indices.
    """
    differing = [
        index
        for index, row in enumerate(rows)
        if EventFlag.BACKGROUND in row.flags
        and row.status.diverges
        and row.group in _COMPUTED
        and not is_loaded(row)
    ]
    if not differing:
        return frozenset()
    first = _contents(rows, differing, first=True)
    second = _contents(rows, differing, first=False)
    return frozenset(
        index
        for index in differing
        if _holds(second, rows[index], rows[index].a) and _holds(first, rows[index], rows[index].b)
    )


def _contents(rows: Sequence[Row], indices: Iterable[int], first: bool) -> frozenset[_Content]:
    sides = ((rows[index], rows[index].a if first else rows[index].b) for index in indices)
    return frozenset(
        (row.group, side.layout, side.digest) for row, side in sides if side is not None
    )


def _holds(contents: frozenset[_Content], row: Row, side: Seen | None) -> bool:
    return side is None or (row.group, side.layout, side.digest) in contents
