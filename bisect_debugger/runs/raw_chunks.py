"""Elements of an uncompressed dataset straight from the file, where HDF5 says that they lie.

HDF5 copies each chunk by itself. The chunks of a payload mostly follow each other in the
file, so that few long reads fetch them, three to five times as fast. Worth it for gigabytes: the
places of all chunks are asked for first.
"""

import os
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

_ABSENT = -1


class RawChunks:
    """The places of a one-dimensional dataset's chunks."""

    def __init__(self, dataset: h5py.Dataset, descriptor: int) -> None:
        """Ask for the places; see `can_read`.

        Args:
            dataset: one for which `can_read` holds.
            descriptor: the file as HDF5 has it open.
        """
        self._descriptor = descriptor
        self._dtype = dataset.dtype
        self._rows = dataset.chunks[0]
        self._offsets = np.full(-(-len(dataset) // self._rows), _ABSENT, dtype=np.int64)
        dataset.id.chunk_iter(self._note)

    def _note(self, chunk: Any) -> None:
        place = chunk.chunk_offset[0] // self._rows
        whole = chunk.filter_mask == 0 and chunk.size == self._rows * self._dtype.itemsize
        if whole and place < len(self._offsets):
            self._offsets[place] = chunk.byte_offset

    def read(self, lo: int, hi: int) -> npt.NDArray[Any] | None:
        """Rows ``lo:hi``, or None where they have to be read through HDF5.

        Args:
            lo: first row.
            hi: one past the last, at most the dataset's length.

        Raises:
            OSError: the file cannot be read, or ends before a chunk does.
        """
        if lo >= hi:
            return None
        first, last = lo // self._rows, (hi - 1) // self._rows
        offsets = self._offsets[first : last + 1]
        if (offsets == _ABSENT).any():
            return None
        size = self._dtype.itemsize
        values = np.empty(hi - lo, dtype=self._dtype)
        target = values.data.cast("B")
        breaks = np.flatnonzero(np.diff(offsets) != self._rows * size) + 1
        starts = [0, *breaks.tolist()]
        for start, end in zip(starts, [*starts[1:], len(offsets)], strict=True):
            # Rows of this run of chunks that were asked for, and where they lie in the file.
            begin = max(lo, (first + start) * self._rows)
            stop = min(hi, (first + end) * self._rows)
            offset = int(offsets[start]) + (begin - (first + start) * self._rows) * size
            self._fill(target[(begin - lo) * size : (stop - lo) * size], offset)
        return values

    def _fill(self, target: memoryview, offset: int) -> None:
        done = 0
        while done < len(target):
            count = os.preadv(self._descriptor, [target[done:]], offset + done)
            if not count:
                raise OSError("the file ends before its contents do")
            done += count


def can_read(dataset: h5py.Dataset) -> bool:
    """Its chunks are plain elements, and this HDF5 tells where they lie."""
    plain = dataset.chunks is not None and not dataset._filters
    return plain and dataset.ndim == 1 and hasattr(dataset.id, "chunk_iter")
