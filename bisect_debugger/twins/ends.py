"""The first and the last step of a recording, which hold more or less than the program did.

Where a window opens in the middle of training, the parameters that it begins with are recorded
once more. Where a trainer died within a step, what it had not done yet is missing. Neither is a
difference between twins.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import EventBlock, Run
from bisect_debugger.twins.model import Row

_BEFORE_WORK = (Group.RNG, Group.PARAM)
"""Groups whose events may stand before a step's own work."""

_EVALUATION = EventFlag.NO_GRAD | EventFlag.EVAL_MODE

Side = int
"""0 for the first run, 1 for the second."""


def openings(
    steps: Sequence[npt.NDArray[np.int64]], rows: Sequence[npt.NDArray[np.int64]]
) -> dict[int, Side]:
    """Common rows in which the window of one run alone opens, with that run.

    Args:
        steps: step numbers of either run.
        rows: for each common row, the row in either run.
    """
    opens = [_after_gap(numbers)[at] for numbers, at in zip(steps, rows, strict=True)]
    return {
        common: int(opens[1][common]) for common in np.flatnonzero(opens[0] != opens[1]).tolist()
    }


def _after_gap(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(n,) whether steps are missing before a row."""
    marks = np.zeros(len(numbers), dtype=np.bool_)
    marks[1:] = np.diff(numbers) > 1
    return marks


def stopped_sides(runs: Sequence[Run], rows: Sequence[int]) -> list[Side]:
    """The runs that ended in the middle of a common step.

    A step that no optimizer closed is only whole where the program ended by itself, and is only
    held whole against one that is open too.

    Args:
        runs: both runs.
        rows: the row of the step in either.
    """
    opened = [_is_open(run, row) for run, row in zip(runs, rows, strict=True)]
    return [
        side
        for side, run in enumerate(runs)
        if opened[side] and (not run.facts.ended_by_itself or not all(opened))
    ]


def _is_open(run: Run, row: int) -> bool:
    return row == run.step_count - 1 and not run.is_closed(run.last_step)


def kept_at_opening(
    opening: Run, block: EventBlock, other: Run, other_block: EventBlock
) -> npt.NDArray[np.bool_]:
    """Which events of an opening step are no parameters recorded for the opening's sake.

    Args:
        opening: the run whose window opens in this step.
        block: its events of the step.
        other: the run that was recorded before as well.
        other_block: its events of the step.
    """
    keep = np.ones(len(block), dtype=np.bool_)
    there = {
        other.buffers[int(other_block.buffer[i])].key for i in _first_values(other, other_block)
    }
    for index in _first_values(opening, block):
        # One that changed outside a step was recorded in the other run too.
        keep[index] = opening.buffers[int(block.buffer[index])].key in there
    return keep


def without_missing_end(rows: Sequence[Row], sides: Sequence[Side]) -> tuple[Row, ...]:
    """Rows up to where a run that ended within the step left what the other did.

    What a program does after it was interrupted is not what it would have done. Nor is what it
    evaluates after its loop the step that the other run takes.
    """
    end = len(rows)
    for side in sides:
        present = [i for i, row in enumerate(rows) if (row.b if side else row.a) is not None]
        end = min(end, present[-1] + 1 if present else 0)
    if sides:
        evaluates = len(sides) == 1 and _evaluates(rows, sides[0])
        other_ways = (
            i
            for i, row in enumerate(rows[:end])
            if row.moved or None in (row.a, row.b) or (evaluates and row.diverges)
        )
        end = next(other_ways, end)
    return tuple(rows[:end])


def _evaluates(rows: Sequence[Row], side: Side) -> bool:
    """In this run alone the forward is called without a gradient, or in eval mode."""
    both = (
        (row.b, row.a) if side else (row.a, row.b) for row in rows if row.group is Group.FORWARD
    )
    first = next(((ended, other) for ended, other in both if ended and other), None)
    return first is not None and bool(first[0].flags & ~first[1].flags & _EVALUATION)


def _first_values(run: Run, block: EventBlock) -> list[int]:
    """Parameter events before anything else was done in the step."""
    found = []
    for index, buffer in enumerate(block.buffer.tolist()):
        group = run.buffers[buffer].group
        if group not in _BEFORE_WORK:
            break
        if group is Group.PARAM:
            found.append(index)
    return found
