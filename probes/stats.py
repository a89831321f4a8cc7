"""Numbers of one content, for levels ``stats`` and ``full``."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout, to_float64
from probes.lately import Lately

Stats = tuple[float, float, int, int]
"""L2 norm, greatest magnitude, NaN count, Inf count; norm and magnitude over finite elements."""


_BLOCK = 1 << 18
"""Elements that are looked at together: they stay in the cache from one look to the next."""

_SUMMED = 8192
"""Elements whose squares are added up together: for so few BLAS starts no threads."""

_FEW = 8192
"""Elements up to which the place of the greatest is found faster than its value is reduced to."""

_KNOWN_STATS = 4096
"""Contents of one generation whose numbers are known; two generations take about 2 MB."""

_greatest, _least = np.maximum.reduce, np.minimum.reduce

_SAFE = {np.dtype(np.float32): (1e-14, 1e14), np.dtype(np.float64): (1e-140, 1e140)}
"""Magnitudes between which the squares of a block neither vanish nor overflow."""


class KnownStats:
    """Numbers by digest: what a buffer passes on unchanged is not looked at again."""

    def __init__(self) -> None:
        """Know none."""
        self._known = Lately[Stats](_KNOWN_STATS)

    def of(self, digest: bytes, content: npt.NDArray[np.uint8], layout: Layout) -> Stats:
        """Numbers of a content, computed where it did not come lately.

        Args:
            digest: its digest, which tells the layout too.
            content: (nbytes,) raw bytes.
            layout: element type and shape.
        """
        found = self._known.get(digest)
        if found is None:
            found = stats_of(content, layout)
            self._known.keep(digest, found)
        return found


def stats_of(content: npt.NDArray[np.uint8], layout: Layout) -> Stats:
    """Numbers of a content.

    Args:
        content: (nbytes,) raw bytes.
        layout: element type and shape.
    """
    if layout.dtype in ("str", "bytes") or not content.size:
        return (0.0, 0.0, 0, 0)
    stored = content.view(layout.storage)
    squares, greatest = 0.0, 0.0
    for start in range(0, len(stored), _BLOCK):
        block = stored[start : start + _BLOCK]
        # Squares of float32 are added up in float32 within a sum: some 1e-6 of the norm at most.
        values: npt.NDArray[Any] = (
            block if layout.dtype == "float32" else to_float64(block, layout.dtype)
        )
        safe = _SAFE.get(values.dtype)
        # A NaN passes through it, and compares with nothing.
        peak = _peak(values) if safe else np.inf
        if safe is None or not (peak == 0 or safe[0] < peak < safe[1]):
            return _carefully(stored, layout)
        greatest = max(greatest, peak)
        squares += _squares(values)
    return (math.sqrt(squares), greatest, 0, 0)


def _peak(values: npt.NDArray[Any]) -> float:
    """Greatest magnitude; NaN where there is one."""
    if len(values) <= _FEW:
        # The first NaN is the place of both.
        return float(max(values.item(values.argmax()), -values.item(values.argmin())))
    return max(float(_greatest(values)), -float(_least(values)))


def _squares(values: npt.NDArray[Any]) -> float:
    """Sum of the squares, in sums of `_SUMMED` that are added up in double precision."""
    if len(values) <= _SUMMED:
        return float(values.dot(values))
    past = len(values) - len(values) % _SUMMED
    rows = values[:past].reshape(-1, 1, _SUMMED)
    sums = np.matmul(rows, rows.transpose(0, 2, 1))
    rest = values[past:]
    return float(sums.sum(dtype=np.float64)) + float(rest.dot(rest))


def _carefully(stored: npt.NDArray[Any], layout: Layout) -> Stats:
    """The same where some element is not finite, complex, or enormous."""
    values: npt.NDArray[Any] = np.abs(to_float64(stored, layout.dtype))
    nan = int(np.isnan(values).sum())
    inf = int(np.isinf(values).sum())
    if nan or inf:
        values = values[np.isfinite(values)]
    if not values.size:
        return (0.0, 0.0, nan, inf)
    greatest = float(values.max())
    # Scaled by the greatest element, so that squares neither overflow nor vanish.
    norm = greatest * float(np.sqrt(np.square(values / greatest).sum())) if greatest else 0.0
    return (norm, greatest, nan, inf)
