"""The table of groups x steps around the onset: the picture of an investigation.

One cell says EQUAL, or what differs in that group and step and how much. The columns are the
steps around the onset and those in which a dormant origin woke, so that cause and symptom stand
in one table however many steps lie between.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bisect_debugger.diagnosis.model import Diagnosis, Verdict
from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Pair, Row, Status

STEPS_SHOWN = 5
"""Columns around the onset."""

WAKES_SHOWN = 3
"""Further columns, for dormant origins that woke later."""

NAMED = 2
"""Differing buffers that a cell names; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Named:
    """A differing buffer in a cell.

    Attributes:
        name: full name.
        max_abs: its greatest absolute difference, or None where no number was recorded.
        status: DIFFERS, NONFINITE where NaN or Inf stand on one side only, ONE_SIDED.
    """

    name: str
    max_abs: float | None
    status: Status


@dataclass(frozen=True, slots=True)
class GridCell:
    """One group in one step.

    Attributes:
        status: how it compares. WITHIN where the verdict says that all of it is.
        differing: differing events.
        events: events of the group in the step; 0 where single buffers were not recorded.
        worst: the differing buffers with the greatest differences, at most `NAMED`.
    """

    status: Status
    differing: int = 0
    events: int = 0
    worst: tuple[Named, ...] = ()

    @property
    def word(self) -> str:
        """The cell in a word or two, in the manner of determinism reports."""
        if self.status is Status.EQUAL:
            return "EQUAL"
        if self.status is Status.NOT_RECORDED:
            return "not recorded"
        if not self.differing:
            return "REORDERED" if self.events else "DIVERGE"
        every = "ALL " if self.differing == self.events and self.events > 1 else ""
        return every + ("WITHIN TOLERANCE" if self.status is Status.WITHIN else "DIVERGE")

    @property
    def counts(self) -> str:
        """Differing events of all, ``k/n``, or nothing where it is not known."""
        return f"{self.differing}/{self.events}" if self.differing else ""

    @property
    def unnamed(self) -> int:
        """Differing events that `worst` leaves out."""
        return self.differing - len(self.worst)


@dataclass(frozen=True, slots=True)
class GroupGrid:
    """Groups x steps around the onset.

    Attributes:
        steps: step numbers, one a column, ascending.
        groups: groups that were recorded in any of these steps, in causal order.
        cells: one row per group, one cell per step.
    """

    steps: tuple[int, ...]
    groups: tuple[Group, ...]
    cells: tuple[tuple[GridCell, ...], ...]

    @classmethod
    def around(cls, pair: Pair, diagnosis: Diagnosis, steps: int = STEPS_SHOWN) -> "GroupGrid":
        """Read the steps around the onset, or the first ones where nothing diverged.

        Args:
            pair: the twins.
            diagnosis: what was found in them.
            steps: columns around the onset.
        """
        columns = [_column(pair, row, diagnosis) for row in _rows_shown(pair, diagnosis, steps)]
        shown = tuple(
            group
            for group in Group
            if any(cells[group].status is not Status.NOT_RECORDED for _, cells in columns)
        )
        return cls(
            tuple(step for step, _ in columns),
            shown,
            tuple(tuple(cells[group] for _, cells in columns) for group in shown),
        )


def _rows_shown(pair: Pair, diagnosis: Diagnosis, steps: int) -> list[int]:
    """Common rows of the columns, ascending."""
    start = 0
    if diagnosis.onset is not None:
        start = max(0, (pair.row_of_step(diagnosis.onset.step) or 0) - 1)
    rows = set(range(start, min(pair.step_count, start + steps)))
    wakes = {
        reached.step
        for origin in diagnosis.origins
        if origin.dormant
        for reached in (origin.first_reached, origin.first_gradient)
        if reached is not None
    }
    later = [row for step in sorted(wakes) if (row := pair.row_of_step(step)) is not None]
    rows.update([row for row in later if row not in rows][:WAKES_SHOWN])
    return sorted(rows)


def _column(pair: Pair, row: int, diagnosis: Diagnosis) -> tuple[int, list[GridCell]]:
    step, statuses = pair.cells(row, row + 1)[0]
    events: dict[Group, list[Row]] = {group: [] for group in Group}
    for event in pair.rows(row):
        events[event.group].append(event)
    within = diagnosis.verdict is Verdict.WITHIN_TOLERANCE
    return step, [_cell(statuses[group], events[group], pair, within) for group in Group]


def _cell(status: Status, rows: Sequence[Row], pair: Pair, within: bool) -> GridCell:
    differing = [row for row in rows if row.status.diverges]
    if not differing:
        reordered = any(row.moved for row in rows)
        equal = status.diverges and rows and not reordered
        return GridCell(Status.EQUAL if equal else status, 0, len(rows))
    named = sorted((_named(row, pair) for row in differing), key=_size, reverse=True)
    # Streams and hand-recorded values are not judged by a tolerance.
    judged = within and differing[0].group not in (Group.RNG, Group.USER)
    return GridCell(
        Status.WITHIN if judged else Status.DIFFERS,
        len(differing),
        len(rows),
        tuple(named[:NAMED]),
    )


def _named(row: Row, pair: Pair) -> Named:
    if row.status is Status.ONE_SIDED:
        return Named(row.name, None, row.status)
    # The bytes of a generator's state are no quantity: how far they are apart means nothing.
    difference = None if row.group is Group.RNG else pair.difference(row)
    if difference is None:
        return Named(row.name, None, row.status)
    if difference.one_sided_nonfinite:
        return Named(row.name, difference.max_abs, Status.NONFINITE)
    return Named(row.name, difference.max_abs, row.status)


def _size(named: Named) -> float:
    """Sort key; the order of execution stays where sizes are equal or unknown."""
    if named.status in (Status.NONFINITE, Status.ONE_SIDED):
        return math.inf
    return -math.inf if named.max_abs is None or math.isnan(named.max_abs) else named.max_abs
