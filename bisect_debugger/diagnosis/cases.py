"""From what the walk found to cases for the decision tree: the evidence is gathered here."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.walk import Found
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import RunFacts
from bisect_debugger.twins import Pair, Row

_NEVER_THE_SAME = ("argv", "created", "pid", "program")
"""Environment facts that twins differ in by being two runs."""


def case_of(pair: Pair, found: Found, origins: Sequence[Found]) -> Case:
    """All evidence about one origin.

    Args:
        pair: the twins.
        found: the origin.
        origins: all origins of the walk, for the streams among them.
    """
    row = found.row
    common_row = pair.row_of_step(row.step)
    rows = pair.rows(common_row) if common_row is not None else (row,)
    streams_now = [other for other in rows if other.group is Group.RNG]
    drawing = _drawing(streams_now)
    return Case(
        row=row,
        step_rows=rows,
        first_step=_first_step(pair, row),
        siblings_equal=found.siblings_equal,
        siblings_different=found.siblings_different,
        difference=pair.difference(row),
        permuted=_permuted(pair, row),
        facts_a=pair.a.facts,
        facts_b=pair.b.facts,
        environment=environment_differences(pair.a.facts, pair.b.facts),
        differing_streams=tuple(
            other.row.component
            for other in origins
            if other.row.group is Group.RNG
            and other.row.step <= row.step
            and (row.group is Group.RNG or other.row.component in drawing)
        ),
        recorded_streams=tuple(dict.fromkeys(other.component for other in streams_now)),
        drawing_streams=drawing,
        contributions=sum(
            other.group is Group.GRAD_SCRATCH and other.subject == row.subject for other in rows
        ),
    )


def environment_differences(a: RunFacts, b: RunFacts) -> dict[str, tuple[str, str]]:
    """Environment facts that differ, name -> (first run, second run)."""
    names = {*a.environment, *b.environment}
    return {
        name: (a.environment.get(name, "not set"), b.environment.get(name, "not set"))
        for name in sorted(names)
        if name not in _NEVER_THE_SAME and a.environment.get(name) != b.environment.get(name)
    }


def _first_step(pair: Pair, row: Row) -> int:
    """The first step among the first few that has the buffer, at most the row's own."""
    for common_row in range(min(4, pair.step_count)):
        step = pair.step_number(common_row)
        if step >= row.step:
            break
        if any(other.key == row.key for other in pair.rows(common_row)):
            return step
    return row.step


def _drawing(boundaries: Sequence[Row]) -> tuple[str, ...]:
    first: dict[str, Row] = {}
    moved: dict[str, None] = {}
    for row in boundaries:
        before = first.setdefault(row.component, row)
        if before.a and row.a and before.a.digest != row.a.digest:
            moved[row.component] = None
    return tuple(moved)


def _permuted(pair: Pair, row: Row) -> bool | None:
    left, right = pair.values(row)
    if left is None or right is None:
        return None
    if left.shape != right.shape or left.ndim == 0 or left.shape[0] < 2:
        return False
    return sorted(_entries(left)) == sorted(_entries(right))


def _entries(values: npt.NDArray[np.generic]) -> list[bytes]:
    return [entry.tobytes() for entry in np.ascontiguousarray(values)]
