"""Numbers of one content, for levels ``stats`` and ``full``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout, to_float64

Stats = tuple[float, float, int, int]
"""L2 norm, greatest magnitude, NaN count, Inf count; norm and magnitude over finite elements."""


_BLOCK = 65536
"""Elements that are looked at together: they stay in the cache from one look to the next."""

_SUMMED = 8192
"""Elements whose squares are added up together: for so few BLAS starts no threads."""

_greatest, _least = np.maximum.reduce, np.minimum.reduce

_SAFE = {np.dtype(np.float32): (1e-14, 1e14), np.dtype(np.float64): (1e-140, 1e140)}
"""Magnitudes between which the squares of a block neither vanish nor overflow."""


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
        # A NaN passes through both, and compares with nothing.
        peak = max(float(_greatest(values)), -float(_least(values))) if safe else np.inf
        if safe is None or not (peak == 0 or safe[0] < peak < safe[1]):
            return _carefully(stored, layout)
        greatest = max(greatest, peak)
        for begin in range(0, len(values), _SUMMED):
            summed = values[begin : begin + _SUMMED]
            squares += float(summed.dot(summed))
    return (float(np.sqrt(squares)), greatest, 0, 0)


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
