"""Numbers of one content, for levels ``stats`` and ``full``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout, to_float64

Stats = tuple[float, float, int, int]
"""L2 norm, greatest magnitude, NaN count, Inf count; norm and magnitude over finite elements."""


def stats_of(content: npt.NDArray[np.uint8], layout: Layout) -> Stats:
    """Numbers of a content.

    Args:
        content: (nbytes,) raw bytes.
        layout: element type and shape.
    """
    if layout.dtype in ("str", "bytes") or not content.size:
        return (0.0, 0.0, 0, 0)
    values: npt.NDArray[Any] = np.abs(to_float64(content.view(layout.storage), layout.dtype))
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
