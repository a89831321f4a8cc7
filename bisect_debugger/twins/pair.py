"""A pair of runs: everything that comparing them asks, read lazily and cached in bounds."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference, compare_arrays
from bisect_debugger.runs import EventBlock, Run, open_run
from bisect_debugger.twins.comparable import check_common, check_comparable
from bisect_debugger.twins.ends import (
    Side,
    kept_at_opening,
    openings,
    stopped_sides,
    without_missing_end,
)
from bisect_debugger.twins.model import Row, Seen, Status
from bisect_debugger.twins.ranks import Ranks, digest_ranks, ranks_of_rows, statuses_of_ranks
from bisect_debugger.twins.search import FirstDifferences, first_true
from bisect_debugger.twins.step import StepAligner

T = TypeVar("T", bound=np.generic)

_CACHED_STEPS = 16
_SCAN_BLOCK = 4096


class Pair:
    """Two runs of what should be one run. Use `open_pair`, and as a context manager."""

    def __init__(self, a: Run, b: Run) -> None:
        """Hold two open runs against each other.

        Raises:
            NotComparable: they share no step or no buffer, or were recorded in other ways.
        """
        self.a = a
        self.b = b
        self._aligner = StepAligner(a, b)
        self._rows: OrderedDict[int, tuple[Row, ...]] = OrderedDict()
        self._first_of: dict[Group, int | None] = {}
        check_comparable(a, b)
        check_common(a, b, self.step_count)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close both files."""
        self.a.close()
        self.b.close()

    @cached_property
    def _common(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Rows of the common steps in either run, or None where row i is row i in both."""
        count = min(self.a.step_count, self.b.step_count)
        if self.a.facts.window == self.b.facts.window and (
            count == 0 or self.a.step_number(count - 1) == self.b.step_number(count - 1)
        ):
            return None
        steps_a = self.a.step_numbers(0, self.a.step_count)
        steps_b = self.b.step_numbers(0, self.b.step_count)
        _, rows_a, rows_b = np.intersect1d(steps_a, steps_b, return_indices=True)
        return rows_a.astype(np.int64), rows_b.astype(np.int64)

    @property
    def step_count(self) -> int:
        """Steps that both runs have; a step's row below is its index among them."""
        if self._common is None:
            return min(self.a.step_count, self.b.step_count)
        return len(self._common[0])

    def step_number(self, row: int) -> int:
        """Step number at a common row; -1 is init."""
        return self.a.step_number(self._in_runs(row)[0])

    def row_of_step(self, step: int) -> int | None:
        """The common row with this step number, or None."""
        row = first_true(lambda i: self.step_number(i) >= step, 0, self.step_count)
        return row if row < self.step_count and self.step_number(row) == step else None

    def first_different_row(self) -> int | None:
        """The first common row that differs, or None where none does.

        Reads O(log steps) rows where both runs were recorded over the same window.
        """
        if self._common is not None or self._verifies:
            return next(self.different_rows(0), None)
        return self._searched.of(None)

    def first_different_row_of(self, group: Group) -> int | None:
        """The first common row where this group differs, or None."""
        if group not in self._first_of:
            self._first_of[group] = self._first_row_of(group)
        return self._first_of[group]

    def _first_row_of(self, group: Group) -> int | None:
        row = 0 if self._common is not None else self._searched.of(group)
        if row is None or not self._verifies:
            return row
        found = self._rows_where(lambda lo, hi: self._groups_apart(lo, hi)[:, group], row)
        return next((k for k in found if self._is_apart(k, group)), None)

    def different_rows(self, start: int) -> Iterator[int]:
        """Every common row from ``start`` on that differs, read in blocks."""
        rows = self._rows_where(self.steps_apart, start)
        return (row for row in rows if self._is_apart(row))

    def different_rows_before(self, end: int) -> Iterator[int]:
        """Every common row before ``end`` that differs, the last one first, read in blocks."""
        for hi in range(min(end, self.step_count), 0, -_SCAN_BLOCK):
            lo = max(0, hi - _SCAN_BLOCK)
            for offset in np.flatnonzero(self.steps_apart(lo, hi))[::-1].tolist():
                if self._is_apart(lo + offset):
                    yield lo + offset

    def _rows_where(
        self, apart: Callable[[int, int], npt.NDArray[np.bool_]], start: int
    ) -> Iterator[int]:
        """Common rows from ``start`` on of which a block's marks are set."""
        for lo in range(start, self.step_count, _SCAN_BLOCK):
            marks = apart(lo, min(lo + _SCAN_BLOCK, self.step_count))
            yield from (np.flatnonzero(marks) + lo).tolist()

    def _is_apart(self, row: int, group: Group | None = None) -> bool:
        """Whether a row whose digests differ does differ, in a group or in anything."""
        if row not in self._openings and not self._verifies:
            return True
        return any(x.diverges for x in self.rows(row) if group is None or x.group is group)

    @cached_property
    def _searched(self) -> FirstDifferences:
        return FirstDifferences(self.a, self.b, self.step_count)

    @cached_property
    def _verifies(self) -> bool:
        """Digests differ where the arguments of a call come in another order, and mean nothing.

        Where that is seen in a first differing row, rows are aligned before they are said to
        differ.
        """
        if self.a.facts.level == "coarse":
            return False
        if self._common is not None:
            return True
        firsts = {self._searched.of(group) for group in (None, *Group)}
        return any(x.shuffled for row in firsts if row is not None for x in self.rows(row))

    def cells(self, lo: int, hi: int) -> list[tuple[int, tuple[Status, ...]]]:
        """Steps x groups: for common rows ``lo:hi`` the step number and a status per group."""
        hi = min(hi, self.step_count)
        if lo >= hi:
            return []
        steps = self._picked(Run.step_numbers, lo, hi)[0].tolist()
        statuses = map(statuses_of_ranks, self.ranks(lo, hi))
        return list(zip(steps, statuses, strict=True))

    def ranks(self, lo: int, hi: int) -> Ranks:
        """(n, GROUP_COUNT) how each group of common rows ``lo:hi`` compares; see `twins.ranks`."""
        ranks = digest_ranks(*self._picked(Run.group_digests, lo, hi))
        if self._verifies or self._openings:
            unsure = self.steps_apart(lo, hi) & self._verifies
            unsure[[row - lo for row in self._openings if lo <= row < hi]] = True
            for offset in np.flatnonzero(unsure).tolist():
                ranks[offset] = ranks_of_rows(self.rows(lo + offset))
        return ranks

    def rows(self, row: int) -> tuple[Row, ...]:
        """The aligned events of one common step, in execution order of the first run."""
        cached = self._rows.get(row)
        if cached is None:
            cached = self._align_step(row)
            self._rows[row] = cached
            if len(self._rows) > _CACHED_STEPS:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(row)
        return cached

    def values(self, row: Row) -> tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None]:
        """Both contents in storage form; None where the event or its payload is missing."""
        return _content(self.a, row.a), _content(self.b, row.b)

    def difference(self, row: Row) -> Difference | None:
        """The numbers, or None where contents are equal, unrecorded or of other layouts."""
        if row.a is None or row.b is None or row.a.layout != row.b.layout:
            return None
        left, right = self.values(row)
        if left is None or right is None:
            return None
        return compare_arrays(left, right, row.a.layout)

    @cached_property
    def stopped_row(self) -> int | None:
        """The last common row, if a run ended in the middle of it."""
        last = self.step_count - 1
        return last if self._stopped_sides(last) else None

    def is_whole(self, row: int) -> bool:
        """All events of a common step are compared: no window opens in it and no run stops."""
        return row not in self._openings and row != self.stopped_row

    def rows_in_runs(self, lo: int, hi: int) -> tuple[npt.NDArray[np.int64], ...]:
        """Rows of common rows ``lo:hi`` in the steps table of either run."""
        return self._spans(lo, hi)

    def steps_apart(self, lo: int, hi: int) -> npt.NDArray[np.bool_]:
        """(n,) whether the digests of the steps at common rows ``lo:hi`` differ."""
        left, right = self._picked(Run.step_digests, lo, hi)
        apart: npt.NDArray[np.bool_] = (left != right).any(axis=1)
        return apart

    def _stopped_sides(self, row: int) -> list[Side]:
        rows = self._in_runs(row)
        return stopped_sides((self.a, self.b), rows)

    @cached_property
    def _openings(self) -> dict[int, Side]:
        if self._common is None:
            return {}
        steps = [run.step_numbers(0, run.step_count) for run in (self.a, self.b)]
        return openings(steps, self._common)

    def _in_runs(self, row: int) -> tuple[int, int]:
        if self._common is None:
            return row, row
        return int(self._common[0][row]), int(self._common[1][row])

    def _spans(self, lo: int, hi: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if self._common is None:
            rows = np.arange(lo, hi, dtype=np.int64)
            return rows, rows
        return self._common[0][lo:hi], self._common[1][lo:hi]

    def _picked(
        self, read: Callable[[Run, int, int], npt.NDArray[T]], lo: int, hi: int
    ) -> tuple[npt.NDArray[T], npt.NDArray[T]]:
        """A column of both runs at common rows ``lo:hi``."""
        left, right = (
            read(run, int(rows[0]), int(rows[-1]) + 1)[rows - rows[0]]
            for run, rows in zip((self.a, self.b), self._spans(lo, hi), strict=True)
        )
        return left, right

    def _groups_apart(self, lo: int, hi: int) -> npt.NDArray[np.bool_]:
        """(n, GROUP_COUNT) the same of each group."""
        left, right = self._picked(Run.group_digests, lo, hi)
        apart: npt.NDArray[np.bool_] = left != right
        return apart

    def _align_step(self, row: int) -> tuple[Row, ...]:
        row_a, row_b = self._in_runs(row)
        step = self.a.step_number(row_a)
        left, right = self.a.events(row_a), self.b.events(row_b)
        rows = self._aligner.rows(step, left, right, self._kept(row, left, right))
        return without_missing_end(rows, self._stopped_sides(row))

    def _kept(
        self, row: int, left: EventBlock, right: EventBlock
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which events of either run are compared."""
        keep_a, keep_b = np.ones(len(left), dtype=np.bool_), np.ones(len(right), dtype=np.bool_)
        side = self._openings.get(row)
        if side == 0:
            keep_a = kept_at_opening(self.a, left, self.b, right)
        elif side == 1:
            keep_b = kept_at_opening(self.b, right, self.a, left)
        return keep_a, keep_b


def open_pair(a: str | Path, b: str | Path) -> Pair:
    """Open two runs to compare them.

    Raises:
        UsageError: both name the same file.
        UnreadableRun: one of them cannot be read.
        NotComparable: they share no step or no buffer.
    """
    if _same_file(a, b):
        raise UsageError(
            f"{printable(str(a))} was given twice, and a run is always equal to itself; name two "
            "recordings."
        )
    run_a = open_run(a)
    try:
        run_b = open_run(b)
    except BaseException:
        run_a.close()
        raise
    try:
        return Pair(run_a, run_b)
    except BaseException:
        run_a.close()
        run_b.close()
        raise


def _same_file(a: str | Path, b: str | Path) -> bool:
    try:
        return Path(a).samefile(b)
    except (OSError, ValueError):
        # What is wrong with either is said when it is opened.
        return False


def _content(run: Run, seen: Seen | None) -> npt.NDArray[Any] | None:
    if seen is None:
        return None
    return run.payload(np.array(seen.digest, dtype=np.uint64), seen.layout)
