"""Growing tables of a run file: rows wait in memory and are appended in one write."""

from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import ALL_COLUMNS, PAYLOAD_VALUES, Column


def create_all(file: h5py.File) -> None:
    """Create every dataset of the format, empty; SWMR allows none to be added later."""
    for column in ALL_COLUMNS:
        width = (column.width,) if column.width else ()
        file.create_dataset(
            column.path,
            shape=(0, *width),
            maxshape=(None, *width),
            chunks=(column.chunk_rows, *width),
            dtype=column.dtype,
            compression="gzip" if column.compressed else None,
            shuffle=column.compressed,
        )


class Table:
    """Columns that grow together. Values are appended per row and written in blocks."""

    def __init__(self, file: h5py.File, columns: Sequence[Column]) -> None:
        """Take the columns of one table of an open file.

        Args:
            file: the run file, with all datasets created.
            columns: the table's columns, in the order in which `append` takes values.
        """
        self._datasets = [file[column.path] for column in columns]
        self._dtypes = [np.dtype(column.dtype) for column in columns]
        self._waiting: list[list[Any]] = [[] for _ in columns]
        self.rows = 0
        """Rows appended so far, written or waiting."""

    def append(self, *values: object) -> int:
        """Add one row, a value per column; returns its index."""
        for waiting, value in zip(self._waiting, values, strict=True):
            waiting.append(value)
        self.rows += 1
        return self.rows - 1

    def write(self) -> None:
        """Write the waiting rows."""
        if not self._waiting[0]:
            return
        for dataset, dtype, waiting in zip(
            self._datasets, self._dtypes, self._waiting, strict=True
        ):
            extend(dataset, np.asarray(waiting, dtype=dtype))
        self._waiting = [[] for _ in self._waiting]


class Payload:
    """Contents by element type, one 1-D dataset each, written once per digest."""

    def __init__(self, file: h5py.File) -> None:
        """Take the payload datasets of an open file."""
        self._file = file
        self._waiting: dict[str, list[npt.NDArray[np.uint8]]] = {}
        self._length = dict.fromkeys(PAYLOAD_VALUES, 0)
        self._known: set[bytes] = set()
        self.waiting_bytes = 0

    def add(self, digest: bytes, dtype: str, content: npt.NDArray[np.uint8]) -> int | None:
        """Keep a copy of the content until it is written.

        Returns:
            Index of its first element in the dataset, or None where the digest is known.
        """
        if digest in self._known:
            return None
        self._known.add(digest)
        start = self._length[dtype]
        self._waiting.setdefault(dtype, []).append(content.copy())
        self._length[dtype] += content.nbytes // np.dtype(PAYLOAD_VALUES[dtype].dtype).itemsize
        self.waiting_bytes += content.nbytes
        return start

    def write(self) -> None:
        """Write the waiting contents, one append per element type."""
        for dtype, pieces in self._waiting.items():
            column = PAYLOAD_VALUES[dtype]
            joined = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
            extend(self._file[column.path], joined.view(column.dtype))
        self._waiting = {}
        self.waiting_bytes = 0


def extend(dataset: h5py.Dataset, rows: npt.NDArray[Any]) -> None:
    """Append rows to a dataset that grows along its first axis."""
    if not len(rows):
        return
    before = dataset.shape[0]
    dataset.resize(before + len(rows), axis=0)
    dataset[before:] = rows
