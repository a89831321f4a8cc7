"""The table of groups x steps around the onset: the picture of an investigation.

One cell says EQUAL, or what differs in that group and step and how much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.diagnosis.model import Diagnosis
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference
from bisect_debugger.twins import Pair, Row, Status

STEPS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class GridCell:
    """One group in one step.

    Attributes:
        status: how it compares.
        differing: differing events.
        events: events of the group in the step.
        worst: name of the differing buffer with the greatest difference, or of the first.
        max_abs: its greatest absolute difference, or None where no values were recorded.
    """

    status: Status
    differing: int = 0
    events: int = 0
    worst: str = ""
    max_abs: float | None = None

    @property
    def words(self) -> str:
        """The cell as text, names escaped."""
        if self.status is Status.EQUAL:
            return "EQUAL"
        if self.status is Status.NOT_RECORDED:
            return "not recorded"
        if not self.events:
            return "DIVERGE"
        size = "" if self.max_abs is None else f", max {self.max_abs:.2g}"
        if self.differing == self.events and self.events > 1:
            return f"ALL {self.events} DIVERGE (worst {printable(self.worst, 60)}{size})"
        more = f" +{self.differing - 1} more" if self.differing > 1 else ""
        return f"{printable(self.worst, 60)} DIVERGE{more} ({self.differing}/{self.events}{size})"


@dataclass(frozen=True, slots=True)
class GroupGrid:
    """Groups x steps around the onset.

    Attributes:
        steps: step numbers, one a column.
        groups: groups that were recorded in any of these steps, in causal order.
        cells: one row per group, one cell per step.
    """

    steps: tuple[int, ...]
    groups: tuple[Group, ...]
    cells: tuple[tuple[GridCell, ...], ...]

    @classmethod
    def around(cls, pair: Pair, diagnosis: Diagnosis, steps: int = STEPS_SHOWN) -> "GroupGrid":
        """Read the steps around the onset, or the first ones where nothing diverged."""
        start = 0
        if diagnosis.onset is not None:
            start = max(0, (pair.row_of_step(diagnosis.onset.step) or 0) - 1)
        stop = min(pair.step_count, start + steps)
        columns = pair.cells(start, stop)
        cells = [
            [
                _cell(
                    status, [row for row in pair.rows(start + offset) if row.group is group], pair
                )
                for offset, (_, statuses) in enumerate(columns)
                for status in (statuses[group],)
            ]
            for group in Group
        ]
        shown = [
            group
            for group, row in zip(Group, cells, strict=True)
            if any(cell.status is not Status.NOT_RECORDED for cell in row)
        ]
        return cls(
            tuple(step for step, _ in columns),
            tuple(shown),
            tuple(tuple(cells[group]) for group in shown),
        )


def _cell(status: Status, rows: Sequence[Row], pair: Pair) -> GridCell:
    differing = [row for row in rows if row.status.diverges]
    if not differing:
        return GridCell(Status.EQUAL if rows and status.diverges else status, 0, len(rows))
    worst, most = differing[0], None
    for row in differing:
        difference: Difference | None = pair.difference(row)
        if difference is None or row.group is Group.RNG:
            continue
        if most is None or difference.max_abs > most:
            worst, most = row, difference.max_abs
    return GridCell(Status.DIFFERS, len(differing), len(rows), worst.name, most)


def render_grid(grid: GroupGrid) -> str:
    """The grid as text, one line per group and step that is not equal."""
    lines = []
    for group, cells in zip(grid.groups, grid.cells, strict=True):
        letter = f"{group.letter} " if group.letter else ""
        words = [
            f"    {step_words(step):>8}: {cell.words}"
            for step, cell in zip(grid.steps, cells, strict=True)
            if cell.status is not Status.EQUAL and cell.status is not Status.NOT_RECORDED
        ]
        lines.append(f"  {letter}{group.label}: {'EQUAL' if not words else ''}".rstrip())
        lines += words
    return "\n".join(lines)
