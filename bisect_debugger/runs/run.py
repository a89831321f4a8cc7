"""One run, read lazily: a table is touched when somebody asks, and the rows are counted.

The counts are the cost model: tests assert that a search reads O(log steps) rows, which
stays true on any machine, instead of asserting seconds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format import schema
from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.runs.facts import Buffer, RunFacts, SeedingCall
from bisect_debugger.runs.opening import damaged, open_file
from bisect_debugger.runs.payload import PayloadStore

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class EventBlock:
    """The events of one step in sequence order, one array per column, n rows each.

    Attributes:
        first: row of the first event in the whole run, i.e. its sequence number.
        buffer: (n,) index into `Run.buffers`.
        layout: (n,) index into `Run.layouts`.
        digest: (n, 2) uint64 halves of the content digest.
        flags: (n,) `EventFlag` bits.
        thread: (n,) thread ordinal, 0 for the main thread.
        occurrence: (n,) how many events of the same buffer precede it in this step.
    """

    first: int
    buffer: npt.NDArray[np.uint32]
    layout: npt.NDArray[np.uint32]
    digest: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint16]
    thread: npt.NDArray[np.uint16]
    occurrence: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Number of events."""
        return len(self.buffer)


@dataclass(frozen=True, slots=True)
class StepBlock:
    """Rows ``lo:hi`` of the steps table, one array per column.

    Attributes:
        step: (n,) step numbers, the first row of a run is -1 (init).
        digest: (n, 2) digest over the step's events.
        group_digest: (n, GROUP_COUNT) digest over each group's events, 0 without events.
        elapsed_seconds: (n,) seconds from the start of recording to the step's end.
        closed: (n,) False for a last step that no optimizer step closed.
    """

    step: npt.NDArray[np.int64]
    digest: npt.NDArray[np.uint64]
    group_digest: npt.NDArray[np.uint64]
    elapsed_seconds: npt.NDArray[np.float64]
    closed: npt.NDArray[np.bool_]


class Run:
    """A recorded run. Use `open_run`, and as a context manager."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        """Wrap a validated file; `open_run` is the way in."""
        self.path = path
        self._file = file
        self.rows_read: dict[str, int] = {}
        """Rows read so far, per table."""

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
        self._file.close()

    @cached_property
    def facts(self) -> RunFacts:
        """What the run says about itself."""
        with self._decoding():
            attributes = {name: _plain(value) for name, value in self._file.attrs.items()}
            environment = {
                name: _plain(value) for name, value in self._file["environment"].attrs.items()
            }
            states, reasons = self._strings("end/state"), self._strings("end/reason")
            state = states[-1] if states else "killed"
            return RunFacts(
                path=self.path,
                rank=int(attributes.get("rank", "0")),
                world_size=int(attributes.get("world_size", "1")),
                level=attributes.get("level", "digest"),
                created=attributes.get("created", ""),
                window=attributes.get("window", ""),
                complete=state in (schema.END_COMPLETE, schema.END_STOPPED),
                end_reason=_end_reason(state, reasons[-1] if reasons else ""),
                environment=environment,
                seeding=self._seeding(),
                uncovered=tuple(self._strings("uncovered/what")),
                stopped=state == schema.END_STOPPED,
                killed=state not in _END_REASONS,
                selection={name: attributes.get(name, "") for name in schema.SELECTION},
                algorithms=frozenset(self._algorithms()),
            )

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """Every buffer, in order of first appearance."""
        with self._decoding():
            columns = [
                self._strings(f"buffers/{name}")
                for name in ("name", "component", "role", "subject", "location", "kind")
            ]
            groups = [Group(int(value)) for value in self._read("buffers/group")]
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
        with self._decoding():
            dtypes, shapes = self._strings("layouts/dtype"), self._strings("layouts/shape")
            return tuple(Layout.parse(*row) for row in zip(dtypes, shapes, strict=False))

    @cached_property
    def step_count(self) -> int:
        """Rows of the steps table whose events are all in the file.

        Columns of a killed run may have different lengths, so the shortest counts.
        """
        rows = min(len(self._file[column.path]) for column in schema.STEPS)
        if self.facts.level == "coarse":
            return rows
        if not rows or self._ends_within(*self._event_span(rows - 1)):
            return rows
        # All at once: a hostile file may claim a million of such rows.
        firsts = self._read("steps/first_event", 0, rows).astype(np.float64)
        whole = firsts + self._read("steps/event_count", 0, rows) <= self._events_there
        return int(np.flatnonzero(whole)[-1]) + 1 if whole.any() else 0

    @cached_property
    def _events_there(self) -> int:
        return min(len(self._file[column.path]) for column in schema.EVENTS)

    def _ends_within(self, first: int, count: int) -> bool:
        return first + count <= self._events_there

    @property
    def event_count(self) -> int:
        """Events of the whole steps."""
        return sum(self._event_span(self.step_count - 1)) if self.step_count else 0

    def step_number(self, row: int) -> int:
        """The step number at a row of the steps table."""
        return int(self._read("steps/step", row, row + 1)[0])

    def is_closed(self, step: int) -> bool:
        """An optimizer's step closed the last whole step; any other one is, or is init."""
        if step != self.last_step or not self.step_count:
            return True
        return bool(self._read("steps/closed", self.step_count - 1, self.step_count)[0])

    @property
    def last_step(self) -> int:
        """Number of the last whole step, -1 (init) where no step was closed."""
        return self.step_number(self.step_count - 1) if self.step_count else schema.INIT_STEP

    def running_digest(self, row: int) -> bytes:
        """Digest over all steps up to and with this row, 16 bytes."""
        return bytes(self._read("steps/running_digest", row, row + 1).tobytes())

    def running_group_digest(self, row: int) -> npt.NDArray[np.uint64]:
        """(GROUP_COUNT,) digest of each group over all steps up to and with this row."""
        block: npt.NDArray[np.uint64] = self._read(
            "steps/running_group_digest", row, row + 1
        ).reshape(GROUP_COUNT)
        return block

    def steps(self, lo: int, hi: int) -> StepBlock:
        """Rows ``lo:hi`` of the steps table; clipped to what is there."""
        hi = min(hi, self.step_count)
        return StepBlock(
            step=self._read("steps/step", lo, hi),
            digest=self._read("steps/digest", lo, hi),
            group_digest=self._read("steps/group_digest", lo, hi),
            elapsed_seconds=self._read("steps/elapsed_seconds", lo, hi),
            closed=self._read("steps/closed", lo, hi).astype(bool),
        )

    def events(self, row: int) -> EventBlock:
        """The events of the step at this row; empty at level ``coarse``."""
        first, count = self._event_span(row)
        if self.facts.level == "coarse":
            count = 0
        elif not self._ends_within(first, count):
            raise damaged(self.path, ValueError("a step claims events that are not there"))
        lo, hi = first, first + count
        buffer = self._read("events/buffer", lo, hi)
        layout = self._read("events/layout", lo, hi)
        if len(buffer) and (buffer.max() >= len(self.buffers) or layout.max() >= len(self.layouts)):
            raise damaged(self.path, ValueError("an event names a buffer that is not there"))
        block = EventBlock(
            first=lo,
            buffer=buffer,
            layout=layout,
            digest=self._read("events/digest", lo, hi),
            flags=self._read("events/flags", lo, hi),
            thread=self._read("events/thread", lo, hi),
            occurrence=_occurrences(buffer),
        )
        lengths = {len(layout), len(block.digest), len(block.flags), len(block.thread)}
        if lengths != {len(buffer)} or (len(buffer) != count):
            raise damaged(self.path, ValueError("the columns of events are not equally long"))
        return block

    def first_step_of(self, key: tuple[Group, str]) -> int | None:
        """The first step that holds an event of a buffer, None where no step does."""
        return self._first_steps.get(key)

    @cached_property
    def _first_steps(self) -> dict[tuple[Group, str], int]:
        """First step of each buffer, from one pass that ends when all were met."""
        rows = self.step_count
        if self.facts.level == "coarse" or not rows:
            return {}
        starts = self._read("steps/first_event", 0, rows)
        steps = self._read("steps/step", 0, rows)
        first = np.full(len(self.buffers), -1, dtype=np.int64)
        for lo in range(0, self.event_count, _BLOCK):
            block = self._read("events/buffer", lo, min(lo + _BLOCK, self.event_count))
            places = np.arange(lo, lo + len(block))
            fresh = block < len(first)
            fresh[fresh] = first[block[fresh]] < 0
            # Of several values for one index the last one stays: backwards, that is the first.
            first[block[fresh][::-1]] = places[fresh][::-1]
            if (first >= 0).all():
                break
        row_of = np.searchsorted(starts, first, side="right") - 1
        return {
            buffer.key: int(steps[row_of[buffer.index]])
            for buffer in self.buffers
            if first[buffer.index] >= 0
        }

    def first_nan(self) -> tuple[int, str] | None:
        """Step and buffer of the first event that holds NaN, as far as numbers were recorded."""
        if self.facts.level not in ("stats", "full"):
            return None
        for lo in range(0, self.event_count, _BLOCK):
            counts = self._read("stats/nan_count", lo, min(lo + _BLOCK, self.event_count))
            places = np.flatnonzero(counts)
            if len(places):
                return self._at(lo + int(places[0]))
        return None

    def _at(self, event: int) -> tuple[int, str]:
        """Step and buffer of an event."""
        starts = self._read("steps/first_event", 0, self.step_count)
        row = int(np.searchsorted(starts, event, side="right")) - 1
        index = int(self._read("events/buffer", event, event + 1)[0])
        with self._decoding():
            return self.step_number(row), self.buffers[index].name

    def edges(self) -> npt.NDArray[np.int64]:
        """Recorded dataflow, (n, 6).

        Step from which it holds, consumer, its occurrence, producer, its occurrence, and 1 where a
        gradient flows back along the edge.
        """
        columns = [self._read(column.path).astype(np.int64) for column in schema.EDGES]
        rows = min(len(column) for column in columns)
        return np.stack([column[:rows] for column in columns], axis=1)

    def payload(self, digest: npt.NDArray[np.uint64], layout: Layout) -> npt.NDArray[Any] | None:
        """The content with this digest, in its layout's storage dtype and shape.

        Returns:
            None where no payload was recorded for it.
        """
        with self._decoding():
            return self._payload.get(digest, layout)

    @cached_property
    def _payload(self) -> PayloadStore:
        return PayloadStore(self._file, self.layouts)

    def _event_span(self, row: int) -> tuple[int, int]:
        first = int(self._read("steps/first_event", row, row + 1)[0])
        count = int(self._read("steps/event_count", row, row + 1)[0])
        return first, count

    def _algorithms(self) -> list[str]:
        return self._strings("algorithms/name") if "algorithms" in self._file else []

    def _seeding(self) -> tuple[SeedingCall, ...]:
        columns = [self._strings(f"seeding/{name}") for name in ("call", "argument", "location")]
        steps = self._read("seeding/step")
        return tuple(
            SeedingCall(call, argument, location, int(step))
            for call, argument, location, step in zip(*columns, steps, strict=False)
        )

    def _read(self, path: str, lo: int = 0, hi: int | None = None) -> npt.NDArray[Any]:
        with self._decoding():
            values: npt.NDArray[Any] = self._file[path][lo:hi]
        table = path.rsplit("/", 1)[0]
        self.rows_read[table] = self.rows_read.get(table, 0) + len(values)
        return values

    def _strings(self, path: str) -> list[str]:
        return [raw.decode("utf-8", "replace") for raw in self._read(path)]

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except UnreadableRun:
            raise
        except (OSError, RuntimeError, ValueError, KeyError, IndexError, TypeError) as error:
            raise damaged(self.path, error) from error


def open_run(path: str | Path) -> Run:
    """Open a run file.

    Raises:
        UnreadableRun: the file cannot be read as a run; the message says why.
    """
    path = Path(path)
    return Run(path, open_file(path))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else str(value)


_END_REASONS: dict[str, Callable[[str], str]] = {
    schema.END_COMPLETE: lambda reason: "",
    schema.END_STOPPED: lambda reason: reason or "stopped",
    schema.END_INCOMPLETE: lambda reason: reason or "the recorder gave no reason",
}


def _end_reason(state: str, reason: str) -> str:
    if state in _END_REASONS:
        return _END_REASONS[state](reason)
    return "the process ended without closing the file (killed, or still running)"


def _occurrences(buffer: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """How many earlier rows hold the same value, for each row."""
    if not len(buffer):
        return np.empty(0, dtype=np.int64)
    order = np.argsort(buffer, kind="stable")
    ordered = buffer[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(buffer)])
    result = np.empty(len(buffer), dtype=np.int64)
    result[order] = np.arange(len(buffer)) - np.repeat(starts, lengths)
    return result
