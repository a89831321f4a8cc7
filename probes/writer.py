"""The writer: events in, one HDF5 file out, readable at any moment.

The file is written in HDF5's single-writer mode (SWMR). Every dataset exists from the start,
because SWMR allows none to be added; that is also why payload is one 1-D dataset per element
type, and not one per buffer and shape: element types are known beforehand, shapes are not, few
datasets keep a flush at a fraction of a millisecond, and small tensors lie side by side.

A flush has two halves: all that a step refers to, then the rows of the steps table. Whoever
kills the process at any moment loses the steps since the last flush and nothing else, and no
step is ever visible before its events.

A failure to write never reaches the trainer: the writer notes it in `RunWriter.failed`, takes
nothing more, and closes the file, with the reason in it where that is possible.
"""

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import INIT_STEP
from probes.closing import ClosedStep, ClosedSteps
from probes.descriptor import reason_of, weak_call
from probes.file_on_disk import FileOnDisk
from probes.narration import say
from probes.run_file import Header, create, full_path, move_to_free_name
from probes.run_tables import RunTables
from probes.stats import Stats
from probes.tables import NO_STATS, fitted, halves, pack_full
from probes.threads import ThreadNumbers

__all__ = ["GroupDigests", "Header", "RunWriter"]

MOST_OPTIMIZERS = 0xFFFF
"""Greatest number of an optimizer that the file holds; those after share it. A program that
builds one for each of its tasks comes to more."""

EVENTS_PER_LOOK = 64
"""An event in so many looks at the clock, for steps that take longer than a flush may wait."""

_FAILURES = (OSError, RuntimeError, ValueError, MemoryError)  # of a write to the file


GroupDigests = Callable[[], npt.NDArray[np.uint64] | None]
"""Computes the (GROUP_COUNT,) digests of a closed step's groups, where somebody asks; None within a
signal handler that came while others were computed."""


class RunWriter:
    """Writes one run. Safe to call from several threads; inert in a forked child."""

    def __init__(
        self,
        path: str | Path,
        header: Header,
        *,
        flush_seconds: float = 1.0,
        fsync: bool = False,
    ) -> None:
        """Create the file.

        Args:
            path: a file that does not exist yet.
            header: what is known before the first event.
            flush_seconds: longest time between two flushes, as long as events come.
            fsync: each flush waits until the disk has it, for when the power may fail.

        Raises:
            UsageError: the file exists already, or cannot be created.
        """
        self.path = full_path(path)
        self.failed = ""
        """Why nothing more is written, or empty. Look at it after `close_step`."""
        self.last_written = INIT_STEP
        """The last step that the file holds."""
        self._with_stats = header.level in ("stats", "full")
        self._flush_seconds = flush_seconds
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._over = False
        self._file = create(self.path, header)
        self._on_disk = FileOnDisk(self._file, self.path, fsync=fsync)
        os.register_at_fork(after_in_child=weak_call(self._after_fork))
        self._all = RunTables(self._file, self._on_disk.make_room, with_stats=self._with_stats)
        self._tables, self._events = self._all.rows, self._all.events
        self._payload = self._all.payload
        self.open_step = bytearray()
        """Events of the step that goes on. Whoever appends whole rows, made by `pack`, in one
        call each, and looks (`look`) every `bytes_per_look`, need not go through `event`."""
        self.pack = self._events.pack
        self.bytes_per_look = EVENTS_PER_LOOK * self._events.row.itemsize
        self._buffers: dict[tuple[Group, str], int] = {}
        # By seed: an int hashes in no time, and the digest has worked it out already.
        self.layout_ids: dict[int, int] = {}
        """Ids of the layouts so far, by their seeds."""
        self.threads = ThreadNumbers()
        self.closing = ClosedSteps(
            self.threads,
            self._events,
            self._tables["steps"],
            keeps_events=header.level != "coarse",
        )
        self._uncovered: set[str] = set()
        self._algorithms: set[str] = set()
        self._started_at = time.monotonic()
        # Init is flushed at once: a process killed early still says what it began with.
        self._flushed_at = self._started_at - flush_seconds

    def buffer(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        subject: str = "",
        location: str = "",
        kind: str = "",
    ) -> int:
        """The id of a buffer; the same (group, name) gives the same id again.

        Args:
            group: what sort of buffer it is.
            name: full name.
            component: what a person can change.
            role: what it is to its component.
            subject: name of the buffer it is about.
            location: ``file:line`` of the component's code.
            kind: class of the component, e.g. ``torch.nn.Linear``.
        """
        key = (group, name)
        known = self._buffers.get(key)
        if known is not None:
            return known
        with self._lock:
            known = self._buffers.get(key)
            if known is not None:
                return known
            texts = fitted("buffers", name, component, role, subject, location, kind)
            if not self._inert():
                self._tables["buffers"].append(*texts, int(group))
            index = self._buffers[key] = self.closing.folding.add_buffer(group, texts[0].decode())
            return index

    def leave_to_thread(self, buffer: int) -> None:
        """A parameter that a thread beside the training made for itself: its id."""
        self.closing.folding.leave_to_thread(buffer)

    def event(
        self,
        buffer: int,
        layout: Layout,
        digest: bytes,
        flags: int = 0,
        *,
        content: npt.NDArray[np.uint8] | None = None,
        stats: Stats | None = None,
    ) -> None:
        """Note that a buffer was seen, in the calling thread.

        Args:
            buffer: id from `buffer`.
            layout: element type and shape.
            digest: 16-byte content digest.
            flags: `EventFlag` bits.
            content: raw bytes to keep as payload unless they came lately; may change afterwards.
            stats: numbers of the content, at level ``stats`` and above.
        """
        with self._lock:
            if self._over or os.getpid() != self._pid:
                return
            layout_id = self.layout(layout)
            thread = self.threads.current()
            # One extension per event, which no interrupt can leave half done.
            if self._with_stats:
                numbers = stats or NO_STATS
                row = pack_full(buffer, layout_id, digest, flags, thread, *numbers)
            else:
                row = self.pack(buffer, layout_id, digest, flags, thread)
            self.open_step.extend(row)
            if content is not None:
                self._keep(digest, layout, layout_id, content)
            if not len(self.open_step) % self.bytes_per_look:
                self.look()

    def layout(self, layout: Layout) -> int:
        """The id of a layout; the same one gives the same id again."""
        known = self.layout_ids.get(layout.seed)
        if known is not None:
            return known
        with self._lock:
            known = self.layout_ids.get(layout.seed)
            if known is None:
                shape = ",".join(map(str, layout.shape))
                known = self._tables["layouts"].append(*fitted("layouts", layout.dtype, shape))
                self.layout_ids[layout.seed] = known
            return known

    def look(self) -> None:
        """Write closed steps that wait, where it is time; for steps that take long."""
        with self._lock:
            if not self._inert() and (self.closing.wait or self._events.waits):
                self._flush_if_due(time.monotonic())

    def edge(
        self,
        step: int,
        consumer: int,
        consumer_occurrence: int,
        producer: int,
        producer_occurrence: int,
        *,
        differentiable: bool,
    ) -> None:
        """Note that an input, batch or loss was computed from an output.

        Args:
            step: step of first sight.
            consumer: buffer id of the input, batch or loss.
            consumer_occurrence: its occurrence in the step.
            producer: buffer id of the output.
            producer_occurrence: its occurrence in the step.
            differentiable: a gradient flows back along the edge.
        """
        place = (consumer, consumer_occurrence, producer, producer_occurrence)
        self._append("edges", step, *place, differentiable)

    def seeding(self, call: str, argument: str, location: str, step: int) -> None:
        """Note a call that seeded a generator."""
        self._append("seeding", *fitted("seeding", call, argument, location), step)

    def algorithm(self, name: str) -> None:
        """Note once that digests were computed by another algorithm than the file's first."""
        with self._lock:
            if name not in self._algorithms:
                self._algorithms.add(name)
                self._append("algorithms", *fitted("algorithms", name))

    def uncovered(self, what: str) -> None:
        """Note once what cannot be recorded."""
        with self._lock:
            if what not in self._uncovered:
                self._uncovered.add(what)
                self._append("uncovered", *fitted("uncovered", what))

    @property
    def event_count(self) -> int:
        """Events of the closed steps that were kept; 0 at level ``coarse``."""
        with self._lock:
            self.closing.fold()
            return self._events.rows

    def close_step(
        self, step: int, *, optimizer: int = 0, closed: bool = True
    ) -> GroupDigests | None:
        """Make a step of the events since the last call.

        Args:
            step: its number, -1 for init.
            optimizer: which optimizer closed it, by order of first step.
            closed: False for a last step that no optimizer step closed.

        Returns:
            What computes the digest of each group over this step; None where nothing is written.
        """
        with self._lock:
            if self._inert():
                return None
            # A copy first: another thread may append in between, for the next step.
            packed = self.open_step[:]
            del self.open_step[: len(packed)]
            now = time.monotonic()
            ended = self.closing.close(
                packed, step, now - self._started_at, min(optimizer, MOST_OPTIMIZERS), closed
            )
            self._flush_if_due(now)
            return partial(self._digests_of, ended)

    def _digests_of(self, step: ClosedStep) -> npt.NDArray[np.uint64] | None:
        with self._lock:
            if step.groups is None:
                self.closing.fold()
            return step.groups

    @property
    def waiting_events(self) -> int:
        """Events of the step that goes on, so far."""
        return len(self.open_step) // self._events.row.itemsize

    def rename(self, path: Path) -> None:
        """Give the file its name while it is written; the name must be free.

        Raises:
            OSError: it is taken, or cannot be given.
        """
        with self._lock:
            if self._inert():
                return
            path = path.absolute()
            move_to_free_name(self.path, path)
            self.path = self._on_disk.path = path

    def finish(self, state: str, reason: str = "") -> None:
        """Write the end of the run and close the file; a second call does nothing.

        Args:
            state: `schema.END_COMPLETE`, `schema.END_STOPPED` or `schema.END_INCOMPLETE`.
            reason: why it is incomplete or was stopped.
        """
        with self._lock:
            if self._inert():
                return
            # First, so that a failure of it leaves the end to be written by another call.
            self.closing.fold()
            self._tables["end"].append(*fitted("end", state, reason))
            self._flush()
            if self.failed:
                # No later call is left in which the caller could notice.
                say(
                    f"the last steps were not written ({self.failed}); the run is kept as "
                    "incomplete."
                )
                return
            try:
                self._over = True
                self._on_disk.close()
            except _FAILURES as error:
                self._abandon(error)
                say(f"{printable(self.path.name)} could not be closed in order ({self.failed}).")

    def _inert(self) -> bool:
        return self._over or os.getpid() != self._pid

    def _keep(
        self, digest: bytes, layout: Layout, layout_id: int, content: npt.NDArray[np.uint8]
    ) -> None:
        try:
            start = self._payload.add(digest, layout.dtype, content)
        except _FAILURES as error:
            self._stop(error)
            return
        if start is not None:
            self._tables["payload/index"].append(halves(digest), layout_id, start)

    def _append(self, table: str, *values: object) -> None:
        with self._lock:
            if not self._inert():
                self._tables[table].append(*values)

    def _flush_if_due(self, now: float) -> None:
        waited = now - self._flushed_at
        if waited >= self._flush_seconds and not self._payload.is_writing:
            self._flush()

    def _flush(self) -> None:
        """Write what waits. Interrupted, it is done again by the next one."""
        # First of all, so that a signal handler in between does not begin a flush of its own.
        self._flushed_at = time.monotonic()
        last = self.closing.last
        self.closing.fold()
        try:
            self._on_disk.make_room(self._all.room())
            self._all.write(self._on_disk.flush)
            self.last_written = self.last_written if last is None else last
        except _FAILURES as error:
            self._stop(error)

    def _stop(self, error: Exception) -> None:
        """Write nothing more, and end the file as well as the failure lets it."""
        self._fail(error)
        try:
            self._on_disk.end_after(error, self.failed)
        except _FAILURES as second:
            self._abandon(second)

    def _abandon(self, error: Exception) -> None:
        self._fail(error)
        self._on_disk.abandon()

    def _fail(self, error: Exception) -> None:
        self._over = True
        self.failed = reason_of(error)

    def _after_fork(self) -> None:
        """In a forked child: never wait for what a thread of the parent held."""
        self._lock = threading.RLock()
