"""Growing tables of a run file: rows wait in memory and are appended in one write.

A write says at which row it begins, so one that was interrupted is simply done again.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import EVENTS, STATS, TABLES, Column, fit_name
from probes.stats import Stats

# A digest's bytes read as two big-endian numbers are the halves that the file holds.
EVENT_ROW = np.dtype(
    [
        ("buffer", "<u4"),
        ("layout", "<u4"),
        ("digest", ">u8", (2,)),
        ("flags", "<u2"),
        ("thread", "<u2"),
    ]
)
EVENT_ROW_WITH_STATS = np.dtype(
    [
        *EVENT_ROW.descr,
        ("l2_norm", "<f8"),
        ("abs_max", "<f8"),
        ("nan_count", "<u8"),
        ("inf_count", "<u8"),
    ]
)

# Packed like the rows above; a packer's call is the cheapest way to make one.
pack = struct.Struct("<II16sHH").pack
pack_full = struct.Struct("<II16sHHddQQ").pack
NO_STATS: Stats = (float("nan"), float("nan"), 0, 0)


def pack_without_stats(buffer: int, layout: int, digest: bytes, flags: int, thread: int) -> bytes:
    """A row with room for numbers of which there are none."""
    return pack_full(buffer, layout, digest, flags, thread, *NO_STATS)


_INDEX_BYTES = 64
"""Generous bound on what HDF5 adds to its index for one more chunk."""


class GrowingColumn:
    """One dataset that grows along its first axis."""

    def __init__(self, file: h5py.File, column: Column) -> None:
        """Take a dataset of an open file; it stays open as long as the file does."""
        # The low-level calls: dataset[start:end] takes ten times as long.
        self._dataset = file[column.path].id
        self.dtype = np.dtype(column.dtype)
        self._across = (column.width,) if column.width else ()
        self.chunk_rows = column.chunk_rows
        self._row_bytes = self.dtype.itemsize * max(column.width, 1)
        self._moves = column.compressed

    def put(self, start: int, rows: npt.ArrayLike) -> None:
        """Write rows from ``start`` on; the dataset grows to hold them and never shrinks."""
        values = np.ascontiguousarray(rows, dtype=self.dtype)
        end = start + len(values)
        if end > self._dataset.shape[0]:
            self._dataset.set_extent((end, *self._across))
        first, end = self.whole_chunks(start, len(values))
        if self._across or self._moves or first >= end:
            self._put_part(start, values)
            return
        # Whole chunks go to the file as they are, past the chunk cache: four times as fast.
        if first:
            self._put_part(start, values[:first])
        for begin in range(first, end, self.chunk_rows):
            chunk = values[begin : begin + self.chunk_rows]
            self._dataset.write_direct_chunk((start + begin,), chunk)
        if end < len(values):
            self._put_part(start + end, values[end:])

    def whole_chunks(self, start: int, rows: int) -> tuple[int, int]:
        """Which of ``rows`` that are put at ``start`` fill whole chunks: first, one past the last.

        Where none does, the first is not below the last.
        """
        return -start % self.chunk_rows, rows - (start + rows) % self.chunk_rows

    def _put_part(self, start: int, values: npt.NDArray[Any]) -> None:
        place = self._dataset.get_space()
        place.select_hyperslab((start, *(0 for _ in self._across)), values.shape)
        self._dataset.write(h5py.h5s.create_simple(values.shape), place, values)

    def room(self, start: int, rows: int) -> int:
        """Bytes by which the file grows at most when ``rows`` are put at ``start``."""
        if not rows:
            return 0
        chunks = -(-(start + rows) // self.chunk_rows) - -(-start // self.chunk_rows)
        # A compressed chunk that is filled up is written anew, at another place.
        chunks += self._moves
        return chunks * (self.chunk_rows * self._row_bytes + _INDEX_BYTES)


class Table:
    """Columns that grow together. Values are appended per row and written in blocks."""

    def __init__(self, file: h5py.File, columns: Sequence[Column]) -> None:
        """Take the columns of one table of an open file.

        Args:
            file: the run file, with all datasets created.
            columns: the table's columns, in the order in which `append` takes values.
        """
        self._columns = [GrowingColumn(file, column) for column in columns]
        self.waiting: list[tuple[object, ...]] = []
        """Rows that are to be written; whole ones may be added."""
        self._written = 0

    def append(self, *values: object) -> int:
        """Add one row, a value per column; returns its index."""
        # One call that cannot be interrupted halfway: columns never differ in length.
        self.waiting.append(values)
        return self._written + len(self.waiting) - 1

    def room(self) -> int:
        """Bytes by which writing grows the file at most."""
        return sum(column.room(self._written, len(self.waiting)) for column in self._columns)

    def write(self) -> None:
        """Write the waiting rows."""
        rows = self.waiting
        if not rows:
            return
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            column.put(self._written, values)
        written = self._written + len(rows)
        # Both or none: nothing is called between them, where an interrupt could come.
        self._written = written
        self.waiting = []


class EventTable:
    """Events and their numbers, kept packed until they are written: no object per event."""

    def __init__(self, file: h5py.File, *, with_stats: bool) -> None:
        """Take the event columns of an open file, and those of the numbers where wanted."""
        self._columns = [GrowingColumn(file, column) for column in EVENTS]
        self.row = EVENT_ROW
        """One packed event, without padding."""
        self.pack: Callable[[int, int, bytes, int, int], bytes] = pack
        """Makes one of buffer, layout, digest, flags and thread."""
        if with_stats:
            self._columns += [GrowingColumn(file, column) for column in STATS]
            self.row, self.pack = EVENT_ROW_WITH_STATS, pack_without_stats
        self.waiting = bytearray()
        """Events that are to be written; whole rows may be added."""
        self._written = 0

    @property
    def rows(self) -> int:
        """Events appended so far, written or waiting."""
        return self._written + len(self.waiting) // self.row.itemsize

    @property
    def waits(self) -> bool:
        """Some events are not written yet."""
        return bool(self.waiting)

    def room(self) -> int:
        """Bytes by which writing grows the file at most."""
        waiting = self.rows - self._written
        return sum(column.room(self._written, waiting) for column in self._columns)

    def write(self) -> None:
        """Write the waiting events."""
        if not self.waiting:
            return
        rows = unpack(self.waiting, self.row)
        # The packed fields stand in the order of the schema's columns.
        for column, name in zip(self._columns, self.row.names or (), strict=True):
            column.put(self._written, rows[name])
        written, empty = self._written + len(rows), bytearray()
        # Both or none: nothing is called between them, where an interrupt could come.
        self._written = written
        self.waiting = empty


def unpack(packed: bytearray, row: np.dtype[Any]) -> npt.NDArray[Any]:
    """Packed events as a structured array of its own memory."""
    return np.frombuffer(bytes(packed), dtype=row)


halves = struct.Struct(">QQ").unpack
"""A digest as the file holds it: high and low half."""


def fitted(table: str, *texts: str) -> list[bytes]:
    """Texts as the table's first columns hold them."""
    return [
        fit_name(text, np.dtype(column.dtype).itemsize)
        for text, column in zip(texts, TABLES[table], strict=False)
    ]
