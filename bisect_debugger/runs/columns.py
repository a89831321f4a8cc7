"""Reading columns of an open run, with every row counted.

The counts are the cost model: tests assert that a search reads O(log steps) rows and that no read
is longer than a block, which stays true on any machine, instead of asserting seconds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy.typing as npt

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.runs.opening import damaged
from bisect_debugger.runs.raw_chunks import RawChunks, can_read
from bisect_debugger.runs.watching import Check, check_in_force

BULK_BYTES = 32 << 20
"""Bytes of a column after which the places of its chunks are asked for."""

TEXT_ROWS = 4096
"""Rows of text that are read at once: 4 MiB of the widest column."""

MOST_TEXT_BYTES = 64 << 20
"""Characters of one column: a million names of 64."""


class Columns:
    """The columns of a validated file.

    Attributes:
        rows_read: rows read so far, per table.
        longest_read: bytes of the longest single read so far.
        watch: called before each read; what it raises ends the work that wanted to read.
    """

    def __init__(self, path: Path, file: h5py.File) -> None:
        """Wrap a validated file; nothing is read yet."""
        self.rows_read: dict[str, int] = {}
        self.longest_read = 0
        self.watch: Check | None = check_in_force()
        self._path = path
        self._file = file
        # Looking a dataset up by its path takes longer than reading a row of it.
        self._datasets: dict[str, h5py.Dataset] = {}
        self._bulk: dict[str, int] = {}
        self._raws: dict[str, RawChunks | None] = {}

    def read(self, path: str, lo: int = 0, hi: int | None = None) -> npt.NDArray[Any]:
        """Rows ``lo:hi`` of a column, clipped to what is there.

        Raises:
            UnreadableRun: they cannot be decoded.
        """
        if self.watch is not None:
            self.watch()
        with self.decoding():
            values: npt.NDArray[Any] = self._dataset(path)[lo:hi]
        self._count(path, values)
        return values

    def read_bulk(self, path: str, lo: int, hi: int) -> npt.NDArray[Any]:
        """Elements ``lo:hi`` of an uncompressed column of one dimension, as fast as the disk.

        The first `BULK_BYTES` of a column come through HDF5, which needs no preparation.

        Raises:
            UnreadableRun: they cannot be read.
        """
        values = None
        if self.watch is not None:
            self.watch()
        with self.decoding():
            raw = self._raw(path)
            if raw is not None and hi <= self.length(path):
                values = raw.read(lo, hi)
        if values is None:
            values = self.read(path, lo, hi)
        else:
            self._count(path, values)
        self._bulk[path] = self._bulk.get(path, 0) + values.nbytes
        return values

    def _raw(self, path: str) -> RawChunks | None:
        if self._bulk.get(path, 0) < BULK_BYTES:
            return None
        if path not in self._raws:
            dataset = self._dataset(path)
            # HDF5's own descriptor: the path may name another file by now.
            descriptor = self._file.id.get_vfd_handle()
            self._raws[path] = RawChunks(dataset, descriptor) if can_read(dataset) else None
        return self._raws[path]

    def texts(self, path: str) -> list[str]:
        """A whole column of text.

        Raises:
            UnreadableRun: it cannot be decoded, or is larger than any run's.
        """
        found: list[str] = []
        room = MOST_TEXT_BYTES
        # In blocks: on disk it is compressed, and a small file may claim what no memory holds.
        for lo in range(0, self.length(path), TEXT_ROWS):
            block = [raw.decode("utf-8", "replace") for raw in self.read(path, lo, lo + TEXT_ROWS)]
            room -= sum(map(len, block))
            if room < 0:
                raise damaged(self._path, ValueError(f"{path} holds more text than any run"))
            found += block
        return found

    def length(self, path: str) -> int:
        """Rows of a column."""
        return len(self._dataset(path))

    def close(self) -> None:
        """Let go of the datasets, so that the file can be closed."""
        self._datasets.clear()
        self._raws.clear()

    def _count(self, path: str, values: npt.NDArray[Any]) -> None:
        table = path.rsplit("/", 1)[0]
        self.rows_read[table] = self.rows_read.get(table, 0) + len(values)
        self.longest_read = max(self.longest_read, values.nbytes)

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Turn what HDF5 and numpy raise on damaged content into one sentence.

        Raises:
            UnreadableRun: something within could not be decoded.
        """
        try:
            yield
        except UnreadableRun:
            raise
        except (OSError, RuntimeError, ValueError, KeyError, IndexError, TypeError) as error:
            raise damaged(self._path, error) from error

    def _dataset(self, path: str) -> h5py.Dataset:
        dataset = self._datasets.get(path)
        if dataset is None:
            dataset = self._datasets[path] = self._file[path]
        return dataset
