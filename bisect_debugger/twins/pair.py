"""A pair of runs: everything that comparing them asks, read lazily and cached in bounds."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.metrics import Difference, compare_arrays
from bisect_debugger.runs import EventBlock, Run, open_run
from bisect_debugger.twins.cells import CODES, Codes, codes_of, digest_codes, statuses_of
from bisect_debugger.twins.comparable import check_common, check_comparable
from bisect_debugger.twins.ends import (
    Side,
    kept_at_opening,
    openings,
    stopped_sides,
    without_missing_end,
)
from bisect_debugger.twins.model import Row, Seen, Status
from bisect_debugger.twins.search import first_true
from bisect_debugger.twins.step import StepAligner

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
        steps_a = self.a.steps(0, self.a.step_count).step
        steps_b = self.b.steps(0, self.b.step_count).step
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
        return self._first_by_digest()

    def first_different_row_of(self, group: Group) -> int | None:
        """The first common row where this group differs, or None."""
        if self._common is not None:
            every = enumerate(self.cells(0, self.step_count))
            return next((k for k, cells in every if cells[1][group].diverges), None)
        row = self._first_by_digest(group)
        if row is None or not self._verifies:
            return row
        rows = self.different_rows(row)
        return next((k for k in rows if _statuses_of(self.rows(k))[group].diverges), None)

    def different_rows(self, start: int) -> Iterator[int]:
        """Every common row from ``start`` on that differs, read in blocks."""
        verifies = self._verifies
        for lo in range(start, self.step_count, _SCAN_BLOCK):
            hi = min(lo + _SCAN_BLOCK, self.step_count)
            left = self._column(self.a, 0, lo, hi)
            right = self._column(self.b, 1, lo, hi)
            for offset in np.flatnonzero((left != right).any(axis=1)):
                row = lo + int(offset)
                sure = row not in self._openings and not verifies
                if sure or any(x.diverges for x in self.rows(row)):
                    yield row

    def _first_by_digest(self, group: Group | None = None) -> int | None:
        """The first row whose running digest differs, of all or of one group."""

        def differs(row: int) -> bool:
            if group is None:
                return self.a.running_digest(row) != self.b.running_digest(row)
            left, right = self.a.running_group_digest(row), self.b.running_group_digest(row)
            return bool(left[group] != right[group])

        row = first_true(differs, 0, self.step_count)
        return row if row < self.step_count else None

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
        firsts = {self._first_by_digest(), *(self._first_by_digest(group) for group in Group)}
        return any(x.shuffled for row in firsts if row is not None for x in self.rows(row))

    def cells(self, lo: int, hi: int) -> list[tuple[int, tuple[Status, ...]]]:
        """Steps x groups: for common rows ``lo:hi`` the step number and a status per group."""
        steps, codes = self.ribbon(lo, hi)
        return [(step, statuses_of(row)) for step, row in zip(steps.tolist(), codes, strict=True)]

    def ribbon(self, lo: int, hi: int) -> tuple[npt.NDArray[np.int64], Codes]:
        """Step numbers (n,) and codes (n, GROUP_COUNT) of common rows ``lo:hi``; see `cells`."""
        hi = min(hi, self.step_count)
        if lo >= hi:
            return np.empty(0, dtype=np.int64), np.empty((0, GROUP_COUNT), dtype=np.uint8)
        rows_a, rows_b = self._spans(lo, hi)
        block_a = self.a.steps(int(rows_a[0]), int(rows_a[-1]) + 1)
        block_b = self.b.steps(int(rows_b[0]), int(rows_b[-1]) + 1)
        picks_a, picks_b = rows_a - rows_a[0], rows_b - rows_b[0]
        codes = digest_codes(block_a.group_digest[picks_a], block_b.group_digest[picks_b])
        differs = (block_a.digest[picks_a] != block_b.digest[picks_b]).any(axis=1)
        for offset in np.flatnonzero(self._to_align(lo, differs)).tolist():
            codes[offset] = codes_of(_statuses_of(self.rows(lo + offset)))
        return block_a.step[picks_a], codes

    def last_different_row(self, stop: int) -> int | None:
        """The last common row before ``stop`` that differs, or None; read in blocks."""
        for hi in range(stop, 0, -_SCAN_BLOCK):
            lo = max(0, hi - _SCAN_BLOCK)
            differs = (self.ribbon(lo, hi)[1] >= CODES[Status.WITHIN]).any(axis=1)
            if differs.any():
                return lo + int(np.flatnonzero(differs)[-1])
        return None

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

    def _stopped_sides(self, row: int) -> list[Side]:
        rows = self._in_runs(row)
        return stopped_sides((self.a, self.b), rows)

    @cached_property
    def _openings(self) -> dict[int, Side]:
        if self._common is None:
            return {}
        steps = [run.steps(0, run.step_count).step for run in (self.a, self.b)]
        return openings(steps, self._common)

    def _to_align(self, lo: int, differs: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Steps from row ``lo`` on whose digests do not tell alone whether they differ."""
        unsure = differs.copy() if self._verifies else np.zeros(len(differs), dtype=np.bool_)
        for row in self._openings:
            if lo <= row < lo + len(differs):
                unsure[row - lo] = True
        return unsure

    def _in_runs(self, row: int) -> tuple[int, int]:
        if self._common is None:
            return row, row
        return int(self._common[0][row]), int(self._common[1][row])

    def _spans(self, lo: int, hi: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if self._common is None:
            rows = np.arange(lo, hi, dtype=np.int64)
            return rows, rows
        return self._common[0][lo:hi], self._common[1][lo:hi]

    def _column(self, run: Run, side: int, lo: int, hi: int) -> npt.NDArray[np.uint64]:
        rows = self._spans(lo, hi)[side]
        digests = run.steps(int(rows[0]), int(rows[-1]) + 1).digest
        picked: npt.NDArray[np.uint64] = digests[rows - rows[0]]
        return picked

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


def _statuses_of(rows: Sequence[Row]) -> tuple[Status, ...]:
    """A status per group from its rows."""
    statuses = dict.fromkeys(Group, Status.NOT_RECORDED)
    for row in rows:
        if row.diverges:
            statuses[row.group] = Status.DIFFERS
        elif statuses[row.group] is Status.NOT_RECORDED:
            statuses[row.group] = Status.EQUAL
    return tuple(statuses.values())
