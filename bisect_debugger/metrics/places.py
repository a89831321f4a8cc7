"""Where in a tensor the differences lie."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics.bits import unequal, words_of

_BLOCK = 1 << 18


class DifferingPlaces:
    """Count, first, last, and per axis the range of differing indices."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Begin with no differing element in a tensor of this shape."""
        self._shape = shape
        self.count = 0
        self.first = self.last = -1
        self._ranges: list[tuple[int, int]] = []

    def add(self, flat: npt.NDArray[np.intp]) -> None:
        """Add row-major positions, ascending and past those added before."""
        if not flat.size:
            return
        if not self.count:
            self.first = int(flat[0])
        self.last = int(flat[-1])
        self.count += int(flat.size)
        if not self._shape:
            return
        indices = np.unravel_index(flat, self._shape)
        found = [(int(axis.min()), int(axis.max())) for axis in indices]
        before = self._ranges or found
        self._ranges = [
            (min(lo, new_lo), max(hi, new_hi))
            for (lo, hi), (new_lo, new_hi) in zip(before, found, strict=True)
        ]

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """(first, last) index per axis over all differing elements."""
        return tuple(self._ranges)


def difference_map(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    layout: Layout,
    rows: int,
    columns: int,
    block: int = _BLOCK,
) -> npt.NDArray[np.int64]:
    """How many elements differ in each part of the tensor, as a small picture.

    The tensor is seen as a matrix whose columns run along the last axis and whose rows along
    all others; a vector is one row, a scalar one cell.

    Args:
        a: first content in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape of both.
        rows: greatest height of the picture.
        columns: greatest width of it.
        block: elements per block.

    Returns:
        Counts of shape (h, w), h <= ``rows`` and w <= ``columns``, never more cells than the
        matrix has; their sum is the number of differing elements. A cell (i, j) holds the
        matrix rows r with ``r * h // height == i`` and the columns likewise.

    Raises:
        ValueError: a size is below 1, or the arrays do not fit the layout.
    """
    if rows < 1 or columns < 1:
        raise ValueError("a picture has at least one row and one column")
    width = layout.shape[-1] if layout.shape else 1
    height = layout.elements // width if width else 0
    shape = (min(rows, height), min(columns, width))
    counts = np.zeros(shape, dtype=np.int64)
    left, right = words_of(a, layout), words_of(b, layout)
    for lo in range(0, layout.elements, block):
        where = np.flatnonzero(unequal(left[lo : lo + block], right[lo : lo + block])) + lo
        row, column = np.divmod(where, width)
        cells = (row * shape[0] // height) * shape[1] + column * shape[1] // width
        counts += np.bincount(cells, minlength=counts.size).reshape(shape)
    return counts
