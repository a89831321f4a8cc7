"""Reading columns of an open run, with every row counted.

The counts are the cost model: tests assert that a search reads O(log steps) rows and that no read
is longer than a block, which stays true on any machine, instead of asserting seconds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy.typing as npt

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.runs.opening import damaged


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
        self.watch: Callable[[], None] | None = None
        self._path = path
        self._file = file
        # Looking a dataset up by its path takes longer than reading a row of it.
        self._datasets: dict[str, h5py.Dataset] = {}

    def read(self, path: str, lo: int = 0, hi: int | None = None) -> npt.NDArray[Any]:
        """Rows ``lo:hi`` of a column, clipped to what is there.

        Raises:
            UnreadableRun: they cannot be decoded.
        """
        if self.watch is not None:
            self.watch()
        with self.decoding():
            values: npt.NDArray[Any] = self._dataset(path)[lo:hi]
        table = path.rsplit("/", 1)[0]
        self.rows_read[table] = self.rows_read.get(table, 0) + len(values)
        self.longest_read = max(self.longest_read, values.nbytes)
        return values

    def texts(self, path: str) -> list[str]:
        """A whole column of text."""
        return [raw.decode("utf-8", "replace") for raw in self.read(path)]

    def length(self, path: str) -> int:
        """Rows of a column."""
        return len(self._dataset(path))

    def close(self) -> None:
        """Let go of the datasets, so that the file can be closed."""
        self._datasets.clear()

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
