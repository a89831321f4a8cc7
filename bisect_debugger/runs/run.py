"""One run, read lazily: a table is touched when somebody asks, and the rows are counted.

The counts are the cost model: tests assert that a search reads O(log steps) rows, which
stays true on any machine, instead of asserting seconds.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format import schema
from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs.blocks import EventBlock, StepBlock, occurrences
from bisect_debugger.runs.columns import Columns
from bisect_debugger.runs.facts import END_REASONS, Buffer, RunFacts, SeedingCall, end_reason
from bisect_debugger.runs.file_access import close_read
from bisect_debugger.runs.finding import first_event_of, first_event_with_nan
from bisect_debugger.runs.opening import damaged, open_file
from bisect_debugger.runs.payload import PayloadStore


class Run:
    """A recorded run. Use `open_run`, and as a context manager."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        """Wrap a validated file; `open_run` is the way in."""
        self.path = path
        self._file = file
        self._columns = Columns(path, file)
        self._first_steps: dict[tuple[Group, str], int | None] = {}

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
        """Close the file."""
        self._columns.close()
        close_read(self._file)

    @property
    def rows_read(self) -> dict[str, int]:
        """Rows read so far, per table."""
        return self._columns.rows_read

    def watch(self, check: Callable[[], None]) -> None:
        """Have a call made before each read, which ends long work by raising."""
        self._columns.watch = check

    @property
    def longest_read(self) -> int:
        """Bytes of the longest single read so far: what bounds the memory of reading."""
        return self._columns.longest_read

    @cached_property
    def facts(self) -> RunFacts:
        """What the run says about itself."""
        with self._columns.decoding():
            attributes = {name: _plain(value) for name, value in self._file.attrs.items()}
            environment = {
                name: _plain(value) for name, value in self._file["environment"].attrs.items()
            }
            states, reasons = self._columns.texts("end/state"), self._columns.texts("end/reason")
            state = states[-1] if states else "killed"
            calls = self._noted_calls()
            return RunFacts(
                path=self.path,
                rank=int(attributes.get("rank", "0")),
                world_size=int(attributes.get("world_size", "1")),
                level=attributes.get("level", "digest"),
                created=attributes.get("created", ""),
                window=attributes.get("window", ""),
                complete=state in (schema.END_COMPLETE, schema.END_STOPPED),
                end_reason=end_reason(state, reasons[-1] if reasons else ""),
                environment=environment,
                seeding=tuple(call for call in calls if call.call not in schema.LOADING_CALLS),
                uncovered=tuple(self._columns.texts("uncovered/what")),
                loads=tuple(call for call in calls if call.call in schema.LOADING_CALLS),
                stopped=state == schema.END_STOPPED,
                killed=state not in END_REASONS,
                selection={name: attributes.get(name, "") for name in schema.SELECTION},
                algorithms=frozenset(self._algorithms()),
            )

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """Every buffer, in order of first appearance."""
        with self._columns.decoding():
            columns = [
                self._columns.texts(f"buffers/{name}")
                for name in ("name", "component", "role", "subject", "location", "kind")
            ]
            groups = [Group(int(value)) for value in self._columns.read("buffers/group")]
            count = min(len(groups), *(len(column) for column in columns))
            names, components, roles, subjects, locations, kinds = columns
            return tuple(
                Buffer(
                    index=row,
                    name=names[row],
                    component=components[row],
                    role=roles[row],
                    subject=subjects[row],
                    group=groups[row],
                    location=locations[row],
                    kind=kinds[row],
                )
                for row in range(count)
            )

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """Every element type and shape that occurs."""
        with self._columns.decoding():
            dtypes, shapes = map(self._columns.texts, ("layouts/dtype", "layouts/shape"))
            return tuple(Layout.parse(*row) for row in zip(dtypes, shapes, strict=False))

    @cached_property
    def step_count(self) -> int:
        """Rows of the steps table whose events are all in the file.

        Columns of a killed run may have different lengths, so the shortest counts.
        """
        rows = min(self._columns.length(column.path) for column in schema.STEPS)
        if self.facts.level == "coarse":
            return rows
        if not rows or self._ends_within(*self._event_span(rows - 1)):
            return rows
        # All at once: a hostile file may claim a million of such rows.
        firsts = self._columns.read("steps/first_event", 0, rows).astype(np.float64)
        whole = firsts + self._columns.read("steps/event_count", 0, rows) <= self._events_there
        return int(np.flatnonzero(whole)[-1]) + 1 if whole.any() else 0

    @cached_property
    def _events_there(self) -> int:
        return min(self._columns.length(column.path) for column in schema.EVENTS)

    def _ends_within(self, first: int, count: int) -> bool:
        return first + count <= self._events_there

    @property
    def event_count(self) -> int:
        """Events of the whole steps."""
        return sum(self._event_span(self.step_count - 1)) if self.step_count else 0

    def step_number(self, row: int) -> int:
        """The step number at a row of the steps table."""
        return int(self._columns.read("steps/step", row, row + 1)[0])

    def is_closed(self, step: int) -> bool:
        """An optimizer's step closed the last step; any other one is, or is init."""
        if step != self.last_step or not self.step_count:
            return True
        return bool(self._columns.read("steps/closed", self.step_count - 1, self.step_count)[0])

    @property
    def last_step(self) -> int:
        """Number of the last row, also where no optimizer's step closed it; -1 is init."""
        return self.step_number(self.step_count - 1) if self.step_count else schema.INIT_STEP

    def running_digest(self, row: int) -> bytes:
        """Digest over all steps up to and with this row, 16 bytes."""
        return bytes(self._columns.read("steps/running_digest", row, row + 1).tobytes())

    def running_group_digest(self, row: int) -> npt.NDArray[np.uint64]:
        """(GROUP_COUNT,) digest of each group over all steps up to and with this row."""
        block: npt.NDArray[np.uint64] = self._columns.read(
            "steps/running_group_digest", row, row + 1
        ).reshape(GROUP_COUNT)
        return block

    def steps(self, lo: int, hi: int) -> StepBlock:
        """Rows ``lo:hi`` of the steps table; clipped to what is there."""
        hi = min(hi, self.step_count)
        return StepBlock(
            step=self._columns.read("steps/step", lo, hi),
            digest=self._columns.read("steps/digest", lo, hi),
            group_digest=self._columns.read("steps/group_digest", lo, hi),
            elapsed_seconds=self._columns.read("steps/elapsed_seconds", lo, hi),
            closed=self._columns.read("steps/closed", lo, hi).astype(bool),
        )

    def step_numbers(self, lo: int, hi: int) -> npt.NDArray[np.int64]:
        """(n,) step numbers of rows ``lo:hi``; clipped to what is there, as below."""
        return self._columns.read("steps/step", lo, min(hi, self.step_count))

    def step_digests(self, lo: int, hi: int) -> npt.NDArray[np.uint64]:
        """(n, 2) digests over the events of each step of rows ``lo:hi``."""
        return self._columns.read("steps/digest", lo, min(hi, self.step_count))

    def group_digests(self, lo: int, hi: int) -> npt.NDArray[np.uint64]:
        """(n, GROUP_COUNT) digests over each group's events in rows ``lo:hi``, 0 without any."""
        return self._columns.read("steps/group_digest", lo, min(hi, self.step_count))

    def event_counts(self, lo: int, hi: int) -> npt.NDArray[np.int64]:
        """(n,) events of each step of rows ``lo:hi``."""
        counts = self._columns.read("steps/event_count", lo, min(hi, self.step_count))
        return counts.astype(np.int64)

    @property
    def closed_step_count(self) -> int:
        """Steps that an optimizer step closed: all rows but init and a last one left open."""
        if not self.step_count:
            return 0
        open_end = self.last_step != self.last_closed_step
        return self.step_count - (self.step_number(0) == schema.INIT_STEP) - open_end

    @property
    def last_closed_step(self) -> int:
        """Number of the last step that an optimizer step closed, -1 (init) where none was."""
        row = self.step_count - 1 - (not self.is_closed(self.last_step))
        return self.step_number(row) if row >= 0 else schema.INIT_STEP

    def events(self, row: int) -> EventBlock:
        """The events of the step at this row; empty at level ``coarse``."""
        first, count = self._event_span(row)
        if self.facts.level == "coarse":
            count = 0
        elif not self._ends_within(first, count):
            raise damaged(self.path, ValueError("a step claims events that are not there"))
        lo, hi = first, first + count
        buffer = self._columns.read("events/buffer", lo, hi)
        layout = self._columns.read("events/layout", lo, hi)
        if len(buffer) and (buffer.max() >= len(self.buffers) or layout.max() >= len(self.layouts)):
            raise damaged(self.path, ValueError("an event names a buffer that is not there"))
        block = EventBlock(
            first=lo,
            buffer=buffer,
            layout=layout,
            digest=self._columns.read("events/digest", lo, hi),
            flags=self._columns.read("events/flags", lo, hi),
            thread=self._columns.read("events/thread", lo, hi),
            occurrence=occurrences(buffer),
        )
        lengths = {len(layout), len(block.digest), len(block.flags), len(block.thread)}
        if lengths != {len(buffer)} or (len(buffer) != count):
            raise damaged(self.path, ValueError("the columns of events are not equally long"))
        return block

    def event_columns(
        self, lo: int, hi: int, names: Sequence[str]
    ) -> tuple[int, npt.NDArray[np.int64], list[npt.NDArray[Any]]]:
        """Columns of the events of rows ``lo:hi``, all at once: mind how many there are.

        Args:
            lo: first row of the steps table.
            hi: one past the last.
            names: columns of the events table, e.g. ``digest``.

        Returns:
            The first event's row in the whole run, (hi - lo,) events of each step, the columns.

        Raises:
            UnreadableRun: the steps do not follow each other, or events are missing.
        """
        firsts = self._columns.read("steps/first_event", lo, hi).astype(np.int64)
        counts = self.event_counts(lo, hi)
        whole = len(firsts) == len(counts) == hi - lo and (counts >= 0).all()
        if not whole or not np.array_equal(firsts[1:], firsts[:-1] + counts[:-1]):
            raise damaged(self.path, ValueError("the events of a step are not where it says"))
        start = int(firsts[0]) if len(firsts) else 0
        end = start + int(counts.sum())
        if start < 0 or not self._ends_within(start, end - start):
            raise damaged(self.path, ValueError("a step claims events that are not there"))
        found = [self._columns.read(f"events/{name}", start, end) for name in names]
        for name, values in zip(names, found, strict=True):
            there = {"buffer": len(self.buffers), "layout": len(self.layouts)}.get(name)
            if there is not None and len(values) and values.max() >= there:
                raise damaged(self.path, ValueError("an event names a buffer that is not there"))
        return start, counts, found

    def row_of_event(self, event: int) -> int:
        """Row of the step that holds an event, by binary search; -1 where none begins before it."""
        return bisect_right(range(self.step_count), event, key=self.first_event) - 1

    def first_step_of(self, key: tuple[Group, str]) -> int | None:
        """The first step that holds an event of a buffer, None where no step does.

        Reads the events up to that one, in blocks.
        """
        if key not in self._first_steps:
            index = next((buffer.index for buffer in self.buffers if buffer.key == key), None)
            end = 0 if self.facts.level == "coarse" else self.event_count
            event = None if index is None else first_event_of(self._columns, index, end)
            row = -1 if event is None else self.row_of_event(event)
            self._first_steps[key] = None if row < 0 else self.step_number(row)
        return self._first_steps[key]

    def first_nan(self) -> tuple[int, str] | None:
        """Step and buffer of the first event that holds NaN, as far as numbers were recorded."""
        if self.facts.level not in ("stats", "full"):
            return None
        event = first_event_with_nan(self._columns, self.event_count)
        return None if event is None else self._at(event)

    def _at(self, event: int) -> tuple[int, str]:
        """Step and buffer of an event."""
        row = self.row_of_event(event)
        index = int(self._columns.read("events/buffer", event, event + 1)[0])
        with self._columns.decoding():
            return self.step_number(row), self.buffers[index].name

    def edges(self) -> npt.NDArray[np.int64]:
        """Recorded dataflow, (n, 6).

        Step from which it holds, consumer, its occurrence, producer, its occurrence, and 1 where a
        gradient flows back along the edge.
        """
        columns = [self._columns.read(column.path).astype(np.int64) for column in schema.EDGES]
        rows = min(len(column) for column in columns)
        return np.stack([column[:rows] for column in columns], axis=1)

    def payload(self, digest: npt.NDArray[np.uint64], layout: Layout) -> npt.NDArray[Any] | None:
        """The content with this digest, in its layout's storage dtype and shape.

        Returns:
            None where no payload was recorded for it.
        """
        with self._columns.decoding():
            return self.contents.get(digest, layout)

    @cached_property
    def contents(self) -> PayloadStore:
        """The contents that were kept, to be read in bulk.

        Raises:
            UnreadableRun: their index cannot be read.
        """
        with self._columns.decoding():
            return PayloadStore(self._columns, self.layouts)

    def first_event(self, row: int) -> int:
        """Where the events of the step at this row begin."""
        return int(self._columns.read("steps/first_event", row, row + 1)[0])

    def _event_span(self, row: int) -> tuple[int, int]:
        first = self.first_event(row)
        count = int(self._columns.read("steps/event_count", row, row + 1)[0])
        return first, count

    def _algorithms(self) -> list[str]:
        return self._columns.texts("algorithms/name") if "algorithms" in self._file else []

    def _noted_calls(self) -> tuple[SeedingCall, ...]:
        texts = self._columns.texts
        columns = [texts(f"seeding/{name}") for name in ("call", "argument", "location")]
        steps = self._columns.read("seeding/step")
        return tuple(
            SeedingCall(call, argument, location, int(step))
            for call, argument, location, step in zip(*columns, steps, strict=False)
        )


def open_run(path: str | Path) -> Run:
    """Open a run file.

    Raises:
        UnreadableRun: the file cannot be read as a run; the message says why.
    """
    path = Path(path)
    return Run(path, open_file(path))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else str(value)
