"""The writer: events in, one HDF5 file out, readable at any moment.

The file is written in HDF5's single-writer mode: every dataset exists from the start, rows
are appended in the order payload, payload index, text tables, events, steps, and then
flushed. Whoever kills the process between two flushes loses what came after the last one
and nothing else. Per event only integers and bytes are kept.

A failure to write never reaches the trainer: the writer notes it in `failed`, takes nothing
more, and leaves the file as the last flush had it.
"""

import os
import tempfile
import threading
import time
import weakref
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format import schema
from bisect_debugger.format.digests import (
    DIGEST_ALGORITHM,
    chain,
    chain_groups,
    name_hash,
    pairs_from_bytes,
    step_digests,
)
from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.format.layouts import Layout
from probes.tables import Payload, Table, create_all, extend

WAITING_PAYLOAD_BYTES = 64 << 20
"""Payload waiting in memory above which a flush comes early."""

Stats = tuple[float, float, int, int]
"""L2 norm, greatest magnitude, NaN count, Inf count."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is known before the first event.

    Attributes:
        level: ``coarse``, ``digest``, ``stats`` or ``full``.
        window: recorded steps as text, or empty for all.
        rank: rank of this process.
        world_size: number of processes.
        environment: facts of machine and process, name -> text.
        created: ISO 8601 time in UTC; now by default.
    """

    level: str = "digest"
    window: str = ""
    rank: int = 0
    world_size: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    created: str = ""


class RunWriter:
    """Writes one run. Safe to call from several threads; inert in a forked child."""

    def __init__(self, path: str | Path, header: Header, *, flush_seconds: float = 1.0) -> None:
        """Create the file.

        Args:
            path: a file that does not exist yet.
            header: what is known before the first event.
            flush_seconds: longest time between two flushes, as long as steps are closed.

        Raises:
            UsageError: the file exists already, or cannot be created.
        """
        self.path = Path(path)
        self._file = _create(self.path, header)
        self._coarse = header.level == "coarse"
        self._with_stats = header.level in ("stats", "full")
        self._flush_seconds = flush_seconds
        self._flushed_at = self._started_at = time.monotonic()
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._descriptor = int(self._file.id.get_vfd_handle())
        os.register_at_fork(after_in_child=_weak_call(self))
        self.failed = ""
        """Why nothing more is written, or empty."""
        self._finished = False
        self._tables = {name: Table(self._file, columns) for name, columns in _ROW_TABLES.items()}
        self._payload = Payload(self._file)
        self._event_data = [self._file[column.path] for column in schema.EVENTS]
        self._stats_data = [self._file[column.path] for column in schema.STATS]
        self._buffers: dict[tuple[Group, str], int] = {}
        self._identity = array("Q")
        self._groups = array("B")
        self._layouts: dict[Layout, int] = {}
        self._threads: dict[int, int] = {threading.main_thread().ident or 0: 0}
        self._uncovered: set[str] = set()
        self._running = bytes(16)
        self._running_groups = np.zeros(GROUP_COUNT, dtype=np.uint64)
        self._event_count = 0
        self._closed_blocks: list[_Events] = []
        self._step = _Events()

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
            texts = [
                schema.fit_name(text, np.dtype(column.dtype).itemsize)
                for text, column in zip(
                    (name, component, role, subject, location, kind), schema.BUFFERS, strict=False
                )
            ]
            index = self._tables["buffers"].append(*texts, int(group))
            self._identity.append(name_hash(group, name))
            self._groups.append(int(group))
            self._buffers[key] = index
            return index

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
            content: raw bytes to keep as payload; copied.
            stats: numbers of the content, at level ``stats`` and above.
        """
        with self._lock:
            if self._inert():
                return
            layout_id = self._layouts.get(layout)
            if layout_id is None:
                shape = ",".join(map(str, layout.shape))
                layout_id = self._tables["layouts"].append(
                    layout.dtype.encode(), schema.fit_name(shape, 256)
                )
                self._layouts[layout] = layout_id
            step = self._step
            step.buffer.append(buffer)
            step.layout.append(layout_id)
            step.digest += digest
            step.flags.append(flags)
            thread = threading.get_ident()
            ordinal = self._threads.get(thread)
            if ordinal is None:
                ordinal = self._threads[thread] = len(self._threads)
            step.thread.append(ordinal)
            if self._with_stats:
                step.stats.append(stats or _NO_STATS)
            if content is not None:
                self._keep(digest, layout, layout_id, content)

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
        texts = [
            schema.fit_name(text, width)
            for text, width in ((call, 128), (argument, 128), (location, 512))
        ]
        self._append("seeding", *texts, step)

    def uncovered(self, what: str) -> None:
        """Note once what cannot be recorded."""
        with self._lock:
            if what not in self._uncovered:
                self._uncovered.add(what)
                self._append("uncovered", schema.fit_name(what))

    def close_step(self, step: int, *, optimizer: int = 0, closed: bool = True) -> None:
        """Fold the events since the last call into a step.

        Args:
            step: its number, -1 for init.
            optimizer: which optimizer closed it, by order of first step.
            closed: False for a last step that no optimizer step closed.
        """
        with self._lock:
            if self._inert():
                return
            events, self._step = self._step, _Events()
            buffer = np.array(events.buffer, dtype=np.int64)
            own, own_groups = step_digests(
                np.array(self._identity, dtype=np.uint64)[buffer],
                pairs_from_bytes(events.digest),
                np.array(self._groups, dtype=np.uint8)[buffer],
                np.array(events.thread, dtype=np.uint16),
            )
            self._running = chain(self._running, own)
            self._running_groups = chain_groups(self._running_groups, own_groups)
            count = 0 if self._coarse else len(events.buffer)
            self._tables["steps"].append(
                step,
                self._event_count,
                count,
                time.monotonic() - self._started_at,
                optimizer,
                closed,
                pairs_from_bytes(own)[0],
                pairs_from_bytes(self._running)[0],
                own_groups,
                self._running_groups,
            )
            if not self._coarse:
                self._event_count += count
                self._closed_blocks.append(events)
            due = time.monotonic() - self._flushed_at >= self._flush_seconds
            if due or self._payload.waiting_bytes > WAITING_PAYLOAD_BYTES:
                self._guarded_flush()

    def finish(self, state: str, reason: str = "") -> None:
        """Write the end of the run and close the file; a second call does nothing.

        Args:
            state: `schema.END_COMPLETE` or `schema.END_INCOMPLETE`.
            reason: why it is incomplete.
        """
        with self._lock:
            if self._finished or os.getpid() != self._pid:
                return
            if not self.failed:
                self._tables["end"].append(state.encode(), schema.fit_name(reason))
                self._guarded_flush()
            self._finished = True
            try:
                self._file.close()
            except (OSError, RuntimeError, ValueError) as error:
                self._fail(error)

    def _keep(
        self, digest: bytes, layout: Layout, layout_id: int, content: npt.NDArray[np.uint8]
    ) -> None:
        start = self._payload.add(digest, layout.dtype, content)
        if start is not None:
            self._tables["payload/index"].append(pairs_from_bytes(digest)[0], layout_id, start)
        if self._payload.waiting_bytes > WAITING_PAYLOAD_BYTES:
            # Payload first is always safe: it is reachable only through what is written later.
            try:
                self._payload.write()
            except (OSError, RuntimeError, ValueError) as error:
                self._fail(error)

    def _append(self, table: str, *values: object) -> None:
        with self._lock:
            if not self._inert():
                self._tables[table].append(*values)

    def _after_fork(self) -> None:
        """In a forked child: never write to the parent's file, not even at interpreter exit."""
        self._lock = threading.RLock()
        if not self._finished:
            # HDF5 still flushes what it holds at exit; let it flush into memory of the child.
            with tempfile.TemporaryFile() as sink:
                os.dup2(sink.fileno(), self._descriptor)

    def _inert(self) -> bool:
        return bool(self.failed) or self._finished or os.getpid() != self._pid

    def _fail(self, error: Exception) -> None:
        if not self.failed:
            self.failed = str(error).splitlines()[0][:300] or type(error).__name__

    def _guarded_flush(self) -> None:
        try:
            self._flush()
        except (OSError, RuntimeError, ValueError) as error:
            self._fail(error)

    def _flush(self) -> None:
        self._payload.write()
        for name in ("layouts", "payload/index", "buffers", "edges", "seeding", "uncovered"):
            self._tables[name].write()
        blocks, self._closed_blocks = self._closed_blocks, []
        if blocks:
            self._write_events(blocks)
        self._tables["steps"].write()
        self._tables["end"].write()
        self._file.flush()
        self._flushed_at = time.monotonic()

    def _write_events(self, blocks: "list[_Events]") -> None:
        joined: list[npt.NDArray[np.generic]] = [
            np.concatenate([np.array(block.buffer, dtype="<u4") for block in blocks]),
            np.concatenate([np.array(block.layout, dtype="<u4") for block in blocks]),
            pairs_from_bytes(b"".join(block.digest for block in blocks)),
            np.concatenate([np.array(block.flags, dtype="<u2") for block in blocks]),
            np.concatenate([np.array(block.thread, dtype="<u2") for block in blocks]),
        ]
        for dataset, rows in zip(self._event_data, joined, strict=True):
            extend(dataset, rows)
        if self._with_stats:
            stats = [row for block in blocks for row in block.stats]
            for column, dataset in enumerate(self._stats_data):
                extend(dataset, np.array([row[column] for row in stats], dtype=dataset.dtype))


class _Events:
    """The events of one step, a growing column each."""

    __slots__ = ("buffer", "digest", "flags", "layout", "stats", "thread")

    def __init__(self) -> None:
        self.buffer = array("I")
        self.layout = array("I")
        self.digest = bytearray()
        self.flags = array("H")
        self.thread = array("H")
        self.stats: list[Stats] = []


_NO_STATS: Stats = (float("nan"), float("nan"), 0, 0)

_ROW_TABLES = {
    name: columns for name, columns in schema.TABLES.items() if name not in ("events", "stats")
}


def _weak_call(writer: RunWriter) -> Callable[[], None]:
    """A fork hook that does not keep the writer alive; fork hooks cannot be taken back."""
    reference = weakref.ref(writer)

    def call() -> None:
        alive = reference()
        if alive is not None:
            alive._after_fork()

    return call


def _create(path: Path, header: Header) -> h5py.File:
    if path.exists():
        raise UsageError(
            f"{printable(str(path))} exists already and a recording never overwrites one; name "
            "another file or remove it."
        )
    try:
        file = h5py.File(path, "x", libver=("v110", "v110"))
    except OSError as error:
        reason = str(error).splitlines()[0][:120]
        raise UsageError(
            f"{printable(str(path))} cannot be created ({reason}); name a file in a folder that "
            "you can write to."
        ) from error
    file.attrs["format"] = schema.FORMAT_NAME
    file.attrs["version"] = schema.FORMAT_VERSION
    file.attrs["digest_algorithm"] = DIGEST_ALGORITHM
    file.attrs["level"] = header.level
    file.attrs["window"] = header.window
    file.attrs["groups"] = [group.label for group in Group]
    file.attrs["rank"] = header.rank
    file.attrs["world_size"] = header.world_size
    file.attrs["created"] = header.created or datetime.now(UTC).isoformat(timespec="seconds")
    environment = file.create_group("environment")
    for name, value in header.environment.items():
        environment.attrs[name] = value[:4096]
    create_all(file)
    file.swmr_mode = True
    return file
