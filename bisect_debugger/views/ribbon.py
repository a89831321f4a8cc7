"""The ribbon of steps x groups: a cell stands for some steps, and says the worst of them.

Cells are read when they come into view and kept, so that a page costs the same however long the
run is.
"""

from collections import OrderedDict
from collections.abc import Iterator

from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Pair
from bisect_debugger.twins.bands import Band, bands

_CELLS_KEPT = 20_000


class Ribbon:
    """Cells that were read, at every zoom; the latest of them are kept."""

    def __init__(self, steps: int, recorded: tuple[Group, ...]) -> None:
        """Nothing is read yet.

        Args:
            steps: common steps of both runs.
            recorded: groups that have events in any step.
        """
        self.steps = steps
        self.recorded = recorded
        self._cells: OrderedDict[tuple[int, int], Band] = OrderedDict()

    def fill(self, each: int, number: int, cell: Band) -> None:
        """Keep a cell of ``each`` steps."""
        self._cells[each, number] = cell
        if len(self._cells) > _CELLS_KEPT:
            self._cells.popitem(last=False)

    def cell(self, each: int, number: int) -> Band | None:
        """A cell, or None where it was not read yet."""
        return self._cells.get((each, number))

    def count(self, each: int) -> int:
        """Cells of ``each`` steps in the whole run."""
        return -(-self.steps // each)

    def missing(self, each: int, first: int, last: int) -> tuple[int, ...]:
        """Numbers of the cells in ``first:last`` that were not read yet."""
        last = min(last, self.count(each))
        return tuple(number for number in range(first, last) if (each, number) not in self._cells)


def recorded_groups(pair: Pair) -> tuple[Group, ...]:
    """Groups that either run has buffers of, in causal order."""
    found = {buffer.group for buffer in (*pair.a.buffers, *pair.b.buffers)}
    return tuple(group for group in Group if group in found)


def read_cells(pair: Pair, each: int, first: int, last: int) -> Iterator[tuple[int, Band]]:
    """Cells ``first:last`` of ``each`` steps with their numbers, one at a time."""
    if each == 1:
        for row, (step, statuses) in enumerate(pair.cells(first, last), first):
            yield row, Band(row, row, step, step, statuses)
        return
    for number in range(first, last):
        for band in bands(pair, number * each, (number + 1) * each, 1):
            yield number, band


def zoom_levels(steps: int, columns: int) -> tuple[int, ...]:
    """Steps a cell, from 1 to the whole run in so many columns: 1, 2, 5, 10, 20, ..."""
    whole = max(1, -(-steps // max(1, columns)))
    levels, factor = [1], 1
    while levels[-1] < whole:
        levels += [factor * 2, factor * 5, factor * 10]
        factor *= 10
    return (*(level for level in levels if level < whole), whole)
