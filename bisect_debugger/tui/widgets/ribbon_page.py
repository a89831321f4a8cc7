"""A page of the ribbon as styled lines: pure, and worked out once for all the cells of a line."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from rich.style import Style

from bisect_debugger.format.groups import Group
from bisect_debugger.tui.look import SHORT_GROUPS, Look
from bisect_debugger.twins.bands import Band

HEAD = 10
"""Columns for the names of the groups."""

BESIDE_GROUPS = 3
"""Lines for marks, cursor and numbers of steps."""

_WIDEST_CELL = 6
_LABEL_EVERY = 10
_PLAIN = Style()
_BOLD = Style(bold=True)
_REVERSE = Style(reverse=True)
_NOT_READ = "?"


def groups_in_view(count: int, chosen: int, height: int) -> range:
    """Which of the groups have a line, the chosen one among them.

    Args:
        count: how many there are.
        chosen: index of the one that the cursor is on.
        height: lines of the whole ribbon.
    """
    if not 0 < height < count + BESIDE_GROUPS:
        return range(count)
    # The line of the cursor gives way first.
    room = min(count, max(1, height - BESIDE_GROUPS + 1))
    start = max(0, min(chosen - room // 2, count - room))
    return range(start, start + room)


Pieces = list[tuple[str, Style]]
"""A line as stretches of one style each."""


def cell_width(cells: int, width: int) -> int:
    """Columns of a cell: as wide as all of them have room, from 1 to `_WIDEST_CELL`."""
    room = max(1, width - HEAD)
    return max(1, min(_WIDEST_CELL, room // max(1, cells)))


@dataclass(frozen=True, slots=True)
class Page:
    """The cells in view, and where the cursor stands among them.

    Attributes:
        each: steps a cell.
        first, last: cells ``first:last`` are in view.
        cell_width: columns of a cell.
        groups: a line each.
        hidden: groups for which there is no room.
        cursor: number of the cell under the cursor.
        group: index of the line under the cursor.
        focused: the keys go here.
    """

    each: int
    first: int
    last: int
    cell_width: int
    groups: tuple[Group, ...]
    hidden: int
    cursor: int
    group: int
    focused: bool

    def line(
        self, y: int, cell: Callable[[int], Band | None], marks: Mapping[int, str], look: Look
    ) -> Pieces:
        """One line: marks, a line for each group, the cursor, the numbers of steps.

        Args:
            y: its number.
            cell: gives a cell by its number, None while it is being read.
            marks: letters over the cell of a common row.
            look: how statuses are painted.
        """
        groups = len(self.groups)
        if y == 0:
            head = f"{self.hidden} more" if self.hidden else ""
            return [(f"{head:<{HEAD}}", _PLAIN), (self._marks_line(marks), _BOLD)]
        if 1 <= y <= groups:
            return self._group_line(y - 1, cell, look)
        # Where there is no room for all groups, the cell under the cursor has to do.
        if y == groups + 1 and not self.hidden:
            place = (self.cursor - self.first) * self.cell_width
            return [(" " * (HEAD + place) + "^", _BOLD)]
        if y == groups + (1 if self.hidden else 2):
            return [(f"{'step':<{HEAD}}{self._labels(cell)}", _PLAIN)]
        return []

    def _marks_line(self, marks: Mapping[int, str]) -> str:
        found: dict[int, str] = {}
        for row, mark in marks.items():
            number = row // self.each
            if self.first <= number < self.last:
                found[number] = found.get(number, "") + mark
        line = ""
        for number, letters in sorted(found.items()):
            # An origin goes before what it made visible, where there is room for one letter.
            mark = "".join(sorted(set(letters)))[: self.cell_width]
            line = f"{line:<{(number - self.first) * self.cell_width}}{mark}"
        return line.ljust((self.last - self.first) * self.cell_width)

    def _group_line(self, index: int, cell: Callable[[int], Band | None], look: Look) -> Pieces:
        group, here = self.groups[index], index == self.group
        head = _REVERSE if here and self.focused else Style(bold=here)
        line: Pieces = [(f"{SHORT_GROUPS[group]:<{HEAD - 1}}", head), (" ", _PLAIN)]
        # Cells of one status are one stretch: what is painted grows with what changes.
        for style, parts in groupby(self._painted(group, cell, look), key=itemgetter(1)):
            line.append(("".join(text for text, _ in parts), style))
        return self._with_cursor(line) if here else line

    def _painted(
        self, group: Group, cell: Callable[[int], Band | None], look: Look
    ) -> Iterator[tuple[str, Style]]:
        gap = " " * (self.cell_width - 1)
        for number in range(self.first, self.last):
            found = cell(number)
            if found is None:
                yield _NOT_READ, _PLAIN
            else:
                status = found.statuses[group]
                yield look.character(status), look.style(status)
            if gap:
                yield gap, _PLAIN

    def _with_cursor(self, line: Pieces) -> Pieces:
        """The same with the character under the cursor reversed."""
        column = HEAD + (self.cursor - self.first) * self.cell_width
        shown, at = 0, Pieces()
        for text, style in line:
            place = column - shown
            if 0 <= place < len(text):
                parts = ((text[:place], style), (text[place], style + _REVERSE))
                at += [part for part in (*parts, (text[place + 1 :], style)) if part[0]]
            else:
                at.append((text, style))
            shown += len(text)
        return at

    def _is_labelled(self, number: int, cell: Band) -> bool:
        """Every tenth cell; of single steps those with round numbers, and init."""
        step = cell.first_step
        return (
            (step < 0 or step % _LABEL_EVERY == 0) if self.each == 1 else number % _LABEL_EVERY == 0
        )

    def _labels(self, cell: Callable[[int], Band | None]) -> str:
        line, free = "", 0
        wide = self.cell_width == _WIDEST_CELL
        for number in range(self.first, self.last):
            column = (number - self.first) * self.cell_width
            found = cell(number) if column >= free else None
            if found is not None and (wide or self._is_labelled(number, found)):
                label = "init" if found.first_step < 0 else str(found.first_step)
                line = f"{line:<{column}}{label}"
                free = column + len(label) + 1
        return line
