"""The session: one thread that owns the open runs, and what has been read from them.

h5py files are used from this thread only. Screens ask with `await`, get frozen data, and never
wait: a long read leaves the UI alive.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.metrics import Difference, ElementPair, neighbourhood
from bisect_debugger.note import render_note
from bisect_debugger.twins import Pair, Row, Status

T = TypeVar("T")

BLOCK = 256
"""Steps per read."""

AROUND = 4
"""Elements shown on either side of the first difference."""


@dataclass(frozen=True, slots=True)
class BufferView:
    """Everything that the Buffer screen shows of one row."""

    row: Row
    difference: Difference | None
    around: tuple[ElementPair, ...]
    level: str
    """The level of both recordings, or of the one that kept less."""


class Session:
    """Reads a pair for the UI."""

    def __init__(self, pair: Pair) -> None:
        """Own a pair; it is closed with the session."""
        self._pair = pair
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reader")
        self.paths: tuple[Path, Path] = (pair.a.path, pair.b.path)
        self.step_count = pair.step_count
        self.diagnosis: Diagnosis | None = None
        self.closed = False

    async def _ask(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reader, call)

    async def diagnose(self) -> Diagnosis:
        """The diagnosis, computed once."""
        if self.diagnosis is None:
            self.diagnosis = await self._ask(lambda: diagnose_pair(self._pair))
        return self.diagnosis

    async def cells(self, lo: int, hi: int) -> list[tuple[int, tuple[Status, ...]]]:
        """Steps by groups for common rows ``lo:hi``."""
        return await self._ask(lambda: self._pair.cells(lo, hi))

    async def rows(self, common_row: int) -> tuple[Row, ...]:
        """The aligned events of one step."""
        return await self._ask(lambda: self._pair.rows(common_row))

    async def step_number(self, common_row: int) -> int:
        """The step number of a common row."""
        return await self._ask(lambda: self._pair.step_number(common_row))

    async def row_of_step(self, step: int) -> int | None:
        """The common row of a step number, or None where it is not recorded in both."""
        return await self._ask(lambda: self._pair.row_of_step(step))

    async def next_different(self, start: int) -> int | None:
        """The first differing common row from ``start`` on, or None."""
        return await self._ask(lambda: next(self._pair.different_rows(start), None))

    async def previous_different(self, start: int) -> int | None:
        """The last differing common row before ``start``, or None."""
        for hi in range(start, 0, -BLOCK):
            lo = max(0, hi - BLOCK)
            cells = await self.cells(lo, hi)
            for row in reversed(range(lo, hi)):
                if any(status.diverges for status in cells[row - lo][1]):
                    return row
        return None

    async def buffer(self, row: Row) -> BufferView:
        """Numbers and values of one row."""
        return await self._ask(lambda: self._buffer(row))

    async def note(self) -> str:
        """The markdown note."""
        diagnosis = await self.diagnose()
        return await self._ask(lambda: render_note(diagnosis, self._pair))

    def close(self) -> None:
        """Drop what is waiting, let the current read end, close the runs."""
        if self.closed:
            return
        self.closed = True
        self._reader.submit(self._pair.close)
        self._reader.shutdown(wait=True, cancel_futures=False)

    def _buffer(self, row: Row) -> BufferView:
        difference = self._pair.difference(row)
        around: tuple[ElementPair, ...] = ()
        left, right = self._pair.values(row) if difference is not None else (None, None)
        if difference and row.a and left is not None and right is not None:
            around = tuple(neighbourhood(left, right, row.a.layout, difference.first_index, AROUND))
        levels = (self._pair.a.facts.level, self._pair.b.facts.level)
        level = next((level for level in levels if level != "full"), "full")
        return BufferView(row, difference, around, level)
