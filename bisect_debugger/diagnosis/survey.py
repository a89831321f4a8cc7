"""The survey of a pair: which steps to walk, and what the walk needs to know beforehand."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.causality.dataflow import Dataflow
from bisect_debugger.causality.walk import OUTSIDE_TRAINING, Program, Walk, WalkResult
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair, Row

STEP_LIMIT = 1000
"""Most differing steps that are walked; past it the diagnosis says that it stopped."""

_LEAD_STEPS = 3
_BLOCK = 1024


def walk_pair(pair: Pair, limit: int = STEP_LIMIT) -> WalkResult:
    """Find the origins of a pair.

    Args:
        pair: the twins.
        limit: most differing steps to walk.
    """
    buffers = (*pair.a.buffers, *pair.b.buffers)
    walk = Walk(Program.of(buffers, Dataflow.of(pair.a, pair.b), window_opening(pair)))
    steps: Iterator[Sequence[Row]] = (pair.rows(row) for row in steps_to_walk(pair))
    return walk.run(steps, limit)


def window_opening(pair: Pair) -> int | None:
    """The first compared step after init, where steps before it were not compared; else None."""
    numbers = (pair.step_number(row) for row in range(min(pair.step_count, 2)))
    first = next((step for step in numbers if step > INIT_STEP), INIT_STEP)
    return first if first > INIT_STEP + 1 else None


def last_compared_row(pair: Pair) -> int:
    """The last step that both runs closed, unless a difference stands in the open one behind it."""
    last = pair.step_count - 1
    number = pair.step_number(last)
    if last and not (pair.a.is_closed(number) and pair.b.is_closed(number)):
        training = first_training_row(pair)
        if training is None or training < last:
            return last - 1
    return last


def events_before(pair: Pair, end: int) -> int:
    """Events of the common rows before ``end``, of the run that has fewer of them."""
    runs = zip((pair.a, pair.b), pair.rows_in_runs(0, end), strict=True)
    return min(_events_of(run, rows) for run, rows in runs)


def _events_of(run: Run, rows: npt.NDArray[np.int64]) -> int:
    """Events of some rows of a run, ascending."""
    stretches = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    return sum(
        _first_event(run, int(some[-1]) + 1) - _first_event(run, int(some[0])) for some in stretches
    )


def _first_event(run: Run, row: int) -> int:
    return run.first_event(row) if row < run.step_count else run.event_count


def first_training_row(pair: Pair) -> int | None:
    """First common row in which anything but streams and monitors differs, or None."""
    rows = [
        row
        for group in Group
        if group not in OUTSIDE_TRAINING and (row := pair.first_different_row_of(group)) is not None
    ]
    limit = min(rows, default=pair.step_count)
    reordered = _first_reordered_row(pair, limit)
    if reordered is not None:
        return reordered
    return limit if rows else None


def _first_reordered_row(pair: Pair, limit: int) -> int | None:
    """First row below ``limit`` with the same contents of each group in another order of groups.

    The step's digest tells, and no group's does.
    """
    first = pair.first_different_row()
    if first is None or first >= limit:
        return None
    start, cells = first, pair.cells(first, first)
    for row in pair.different_rows(first):
        if row >= limit:
            break
        if row >= start + len(cells):
            start, cells = row, pair.cells(row, min(row + _BLOCK, limit))
        if not any(cell.diverges for cell in cells[row - start][1]):
            return row
    return None


def steps_to_walk(pair: Pair) -> Iterator[int]:
    """Common rows to walk, ascending.

    The first differing rows at all (a stream may differ from init on), the first of every
    group with the row before it (for the state of the streams), and from the first training
    difference on every row that differs.
    """
    first = pair.first_different_row()
    if first is None:
        return
    early = set(range(first, min(first + _LEAD_STEPS, pair.step_count)))
    for group in Group:
        row = pair.first_different_row_of(group)
        if row is not None:
            early |= {max(row - 1, 0), row}
    training = first_training_row(pair)
    if training is None:
        yield from sorted(early)
        return
    if any(EventFlag.BACKGROUND in row.flags for row in pair.rows(training)):
        # What a thread beside the training prepared stands in an earlier step.
        early |= set(range(max(training - _LEAD_STEPS, 0), training))
    yield from sorted(row for row in early if row < training)
    yield from pair.different_rows(training)
