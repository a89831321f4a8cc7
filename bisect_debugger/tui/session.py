"""The session: what screens ask of a pair of runs, answered by the reader as frozen data."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.diagnosis.findings import experimented_on
from bisect_debugger.diagnosis.model import Origin
from bisect_debugger.format.groups import Group
from bisect_debugger.note import render_note
from bisect_debugger.tui.filters import NameFilter, occurs
from bisect_debugger.tui.reader import BACKGROUND, LONG, SEARCH, Reader
from bisect_debugger.twins import Pair, Row, open_pair
from bisect_debugger.views.buffer import BufferView, buffer_view, level_of, without_values
from bisect_debugger.views.facts import FactRow, fact_rows
from bisect_debugger.views.growth import Growth, GrowthPoint, growth_points, rows_to_look_at
from bisect_debugger.views.ribbon import Ribbon, read_cells, recorded_groups
from bisect_debugger.views.source import Code, code_at
from bisect_debugger.views.states import Compared, compared_of

_CELLS_AT_A_TIME = 8
"""Cells of a zoomed-out ribbon that are read before what is looked at gets its turn."""

GROWTH_STEPS = 120
"""Evenly spread steps of a growth; each has to be aligned."""


class Session:
    """Reads a pair for the UI."""

    def __init__(self, pair: Pair, reader: Reader | None = None) -> None:
        """Own a pair; it is closed with the session."""
        self._pair = pair
        self._reader = reader or Reader()
        self.paths: tuple[Path, Path] = (pair.a.path, pair.b.path)
        self.rank = pair.a.facts.rank
        self.step_count = pair.step_count
        self._level = level_of(pair)
        self.diagnosis: Diagnosis | None = None
        self.ribbon = Ribbon(self.step_count, recorded_groups(pair))
        self.closed = False
        for run in (pair.a, pair.b):
            run.watch(self._reader.check)

    @classmethod
    def open(cls, a: str | Path, b: str | Path, reader: Reader) -> "Session":
        """Open two runs; called in the reader's thread.

        Raises:
            BisectError: one cannot be read, or they cannot be compared.
        """
        return cls(open_pair(a, b), reader)

    async def diagnose(self) -> Diagnosis:
        """The diagnosis, computed once."""
        if self.diagnosis is None:
            found = await self._reader.ask(self._diagnose, LONG)
            self.diagnosis = found
        return self.diagnosis

    def _diagnose(self) -> Diagnosis:
        # Two screens may have asked; the second finds it done.
        return self.diagnosis or diagnose_pair(self._pair)

    @property
    def rows_read(self) -> int:
        """Rows of all tables that were read so far: how far a long read has come."""
        return sum(sum(run.rows_read.values()) for run in (self._pair.a, self._pair.b))

    async def compared(self) -> Compared:
        """What was held against each other, for a screen that has nothing else to show."""
        return await self._reader.ask(lambda: compared_of(self._pair), LONG)

    # --- steps

    async def fill_ribbon(self, each: int, first: int, last: int) -> AsyncIterator[int]:
        """Read the cells ``first:last`` of ``each`` steps that are missing; yields how many."""
        missing = self.ribbon.missing(each, first, last)
        most = len(missing) if each == 1 else _CELLS_AT_A_TIME
        for lo in range(0, len(missing), max(1, most)):
            some = missing[lo : lo + most]
            await self._reader.ask(partial(self._fill, each, some[0], some[-1] + 1))
            yield len(some)

    def _fill(self, each: int, first: int, last: int) -> None:
        for number, cell in read_cells(self._pair, each, first, last):
            self._reader.check()
            self.ribbon.fill(each, number, cell)

    async def step_number(self, common_row: int) -> int:
        """The step number of a common row."""
        return await self._reader.ask(lambda: self._pair.step_number(common_row))

    async def row_of_step(self, step: int) -> int | None:
        """The common row of a step number, or None where it is not recorded in both."""
        return await self._reader.ask(lambda: self._pair.row_of_step(step))

    async def next_different(self, start: int) -> int | None:
        """The first differing common row from ``start`` on, or None."""
        return await self._reader.ask(lambda: next(self._pair.different_rows(start), None), SEARCH)

    async def previous_different(self, start: int) -> int | None:
        """The last differing common row before ``start``, or None."""
        return await self._reader.ask(
            lambda: next(self._pair.different_rows_before(start), None), SEARCH
        )

    async def next_listed(self, start: int, names: NameFilter, *, forward: bool) -> int | None:
        """The first common row from ``start`` on with a difference in a buffer of such a name.

        Backwards: the last one before ``start``.

        Raises:
            BadFilter: the filter takes too long.
        """
        return await self._reader.ask(partial(self._next_listed, start, names, forward), SEARCH)

    def _next_listed(self, start: int, names: NameFilter, forward: bool) -> int | None:
        pair = self._pair
        for row in pair.different_rows(start) if forward else pair.different_rows_before(start):
            self._reader.check()
            if not names.text:
                return row
            differing = [event.name for event in pair.rows(row) if event.diverges]
            names.learn_now(differing)
            if any(map(names.matches, differing)):
                return row
        return None

    # --- events

    async def rows(self, common_row: int) -> tuple[Row, ...]:
        """The aligned events of one step."""
        return await self._reader.ask(lambda: self._pair.rows(common_row))

    async def first_step_of_name(self, word: str) -> tuple[int, str] | None:
        """The first step that holds a buffer with the word in its name, and the full name."""
        return await self._reader.ask(lambda: self._first_step_of_name(word), SEARCH)

    def _first_step_of_name(self, word: str) -> tuple[int, str] | None:
        # What the second run alone has is looked for as well.
        for run in (self._pair.a, self._pair.b):
            for buffer in run.buffers:
                if occurs(word, buffer.name):
                    self._reader.check()
                    step = run.first_step_of(buffer.key)
                    if step is not None:
                        return step, buffer.name
        return None

    async def buffer(self, row: Row, place: int = 0) -> BufferView:
        """Numbers and values of one row, around the differing element of this number."""
        if self._level != "full":
            # At once: going to the reader and back takes longer than a frame.
            return without_values(row, self._level)
        return await self._reader.ask(lambda: buffer_view(self._pair, row, place))

    async def growth(
        self, key: tuple[Group, str], onset_row: int, every: int = 16
    ) -> AsyncIterator[Growth]:
        """How a buffer's difference grows; yields what is known so far, at last all of it."""
        rows = rows_to_look_at(self.step_count, onset_row, GROWTH_STEPS)
        found: list[GrowthPoint] = []
        last = await self.step_number(self.step_count - 1)
        for lo in range(0, len(rows), every):
            block = rows[lo : lo + every]
            found += await self._reader.ask(partial(self._points, block, key), BACKGROUND)
            yield Growth(key[1], key[0], tuple(found), last, self.step_count)

    def _points(self, rows: Sequence[int], key: tuple[Group, str]) -> list[GrowthPoint]:
        points = []
        for point in growth_points(self._pair, rows, key):
            self._reader.check()
            points.append(point)
        return points

    # --- what stands about the runs

    async def facts(self) -> tuple[FactRow, ...]:
        """The facts of both runs side by side."""
        return await self._reader.ask(lambda: fact_rows(self._pair.a.facts, self._pair.b.facts))

    async def experimented_on(self) -> tuple[Path, Path] | None:
        """The pair beside these runs that experiments were kept about, or None."""
        return await self._reader.ask(lambda: experimented_on(self._pair))

    async def code(self, origin: Origin) -> Code:
        """The source line of an origin with the code around it."""
        folders = (self.paths[0].parent, self.paths[1].parent, Path())
        place = origin.location or origin.source
        return await self._reader.ask(lambda: code_at(origin.operator, place, folders))

    async def note(self) -> str:
        """The markdown note."""
        diagnosis = await self.diagnose()
        return await self._reader.ask(lambda: render_note(diagnosis, self._pair), LONG)

    def close(self) -> None:
        """Drop what is waiting, end the current read, close the runs."""
        if not self.closed:
            self.closed = True
            self._reader.close(self._pair.close)
