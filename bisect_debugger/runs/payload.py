"""Payload: the elements behind a digest, stored once per content."""

from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout


class PayloadStore:
    """Looks content up by digest. The index is read once; elements when asked for."""

    def __init__(self, file: h5py.File, layouts: tuple[Layout, ...]) -> None:
        """Read the index of a validated file.

        Args:
            file: the open run.
            layouts: the run's layouts, to find the dataset and the shape.
        """
        self._file = file
        digests = file["payload/index/digest"][:]
        layout_rows = file["payload/index/layout"][:]
        starts = file["payload/index/start"][:]
        rows = min(len(digests), len(layout_rows), len(starts))
        self._where = {
            (int(high), int(low)): (int(layout_rows[row]), int(starts[row]))
            for row, (high, low) in enumerate(digests[:rows])
        }
        self._layouts = layouts

    def __len__(self) -> int:
        """Number of contents."""
        return len(self._where)

    def get(self, digest: npt.NDArray[np.uint64], layout: Layout) -> npt.NDArray[Any] | None:
        """Elements in the layout's storage dtype and shape, or None where not recorded.

        Raises:
            ValueError: the index points past the recorded elements.
        """
        found = self._where.get((int(digest[0]), int(digest[1])))
        if found is None:
            return None
        layout_row, start = found
        if self._layouts[layout_row] != layout:
            raise ValueError("the payload index disagrees with the event about the layout")
        dataset = self._file[f"payload/values/{layout.dtype}"]
        if start + layout.elements > len(dataset):
            raise ValueError("the payload index points past the recorded elements")
        values: npt.NDArray[Any] = dataset[start : start + layout.elements]
        return values.reshape(layout.shape)
