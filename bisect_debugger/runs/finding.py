"""Finding an event of a run in its columns, in blocks: memory stays bounded."""

import numpy as np

from bisect_debugger.runs.columns import Columns

BLOCK_ROWS = 1 << 17
"""Rows of a table that are read at a time where a whole table has to be looked at."""

_FIRST_ROWS = 1024


def first_event_of(columns: Columns, buffer: int, end: int) -> int | None:
    """The first event of a buffer among the first ``end`` ones; None where there is none.

    Reads the events up to that one.
    """
    lo, rows = 0, _FIRST_ROWS
    while lo < end:
        places = np.flatnonzero(columns.read("events/buffer", lo, min(lo + rows, end)) == buffer)
        if len(places):
            return lo + int(places[0])
        # Most buffers are in the first steps, so the blocks begin small.
        lo, rows = lo + rows, min(4 * rows, BLOCK_ROWS)
    return None


def first_event_with_nan(columns: Columns, end: int) -> int | None:
    """The first of the first ``end`` events whose content holds NaN; None where none does."""
    for lo in range(0, end, BLOCK_ROWS):
        counts = columns.read("stats/nan_count", lo, min(lo + BLOCK_ROWS, end))
        places = np.flatnonzero(counts)
        if len(places):
            return lo + int(places[0])
    return None
