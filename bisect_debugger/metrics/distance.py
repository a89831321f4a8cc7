"""How far two contents are apart, in few passes: for comparing gigabytes and picking the greatest.

`compare_arrays` says all about one difference and takes some thirty passes. This module counts
differing elements exactly and sizes the difference in the elements' own precision where that
holds, which is enough to rank by; what is shown of the greatest comes from `compare_arrays`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics.bits import decode, is_number, part_type, unequal, words_of

BLOCK_ELEMENTS = 1 << 16
"""Elements per block: its temporaries stay in the processor's cache."""

_DIRECT = {"float32": np.float32, "float64": np.float64}
"""Types that are subtracted as they are."""


@dataclass(slots=True)
class Distance:
    """Sums over the blocks of one pair of contents.

    Attributes:
        elements: looked at so far.
        differing: of these, elements whose bits differ.
        squares: sum of the squares of A - B, over elements that are finite on both sides.
        reference: sum of the squares of A over the same.
        one_sided: elements that are finite on one side only.
    """

    elements: int = 0
    differing: int = 0
    squares: float = 0.0
    reference: float = 0.0
    one_sided: int = 0

    @property
    def size(self) -> float:
        """To rank by: about relFro; inf where NaN or Inf stand on one side, 0 without numbers."""
        if self.one_sided:
            return math.inf
        if not self.squares:
            return 0.0
        return math.sqrt(self.squares / self.reference) if self.reference else math.inf

    def add(self, a: npt.NDArray[Any], b: npt.NDArray[Any], dtype: str) -> None:
        """Add stretches of the contents.

        Args:
            a: (n,) elements of the first in the storage dtype.
            b: (n,) elements of the second.
            dtype: element type.
        """
        for lo in range(0, len(a), BLOCK_ELEMENTS):
            self._block(a[lo : lo + BLOCK_ELEMENTS], b[lo : lo + BLOCK_ELEMENTS], dtype)

    def _block(self, a: npt.NDArray[Any], b: npt.NDArray[Any], dtype: str) -> None:
        layout = Layout(dtype, (len(a),))
        words = words_of(a, layout), words_of(b, layout)
        differing = int(np.count_nonzero(unequal(*words)))
        self.elements += len(a)
        self.differing += differing
        # A block without a difference counts as well: relFro is about the whole content.
        if not is_number(dtype) or (dtype in _DIRECT and self._direct(a, b, differing)):
            return
        x, y = (decode(side, part_type(dtype)).reshape(-1) for side in words)
        finite_a, finite_b = np.isfinite(x), np.isfinite(y)
        finite = finite_a & finite_b
        self.one_sided += int(np.count_nonzero(finite_a != finite_b))
        with np.errstate(all="ignore"):
            apart = np.where(finite, x - y, 0.0)
            self.squares += float(np.dot(apart, apart))
            kept = np.where(finite, x, 0.0)
            self.reference += float(np.dot(kept, kept))

    def _direct(self, a: npt.NDArray[Any], b: npt.NDArray[Any], differing: int) -> bool:
        """Sums in the elements' own precision; False where that overflows or meets a NaN."""
        with np.errstate(all="ignore"):
            apart = a - b if differing else a[:0]
            squares, reference = float(np.dot(apart, apart)), float(np.dot(a, a))
        if not math.isfinite(squares) or not math.isfinite(reference):
            return False
        if differing and not squares:
            return False
        self.squares += squares
        self.reference += reference
        return True
