"""Constant content, recognised by digest alone: zeros and ones, as biases and norms begin.

Such a parameter is equal however the seed is treated, so it says nothing about seeding.
"""

from functools import lru_cache

import numpy as np

from bisect_debugger.format.digests import content_digest, pairs_from_bytes
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.multilinear import multilinear_digest
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins.model import Row

_ONE_BITS = {"bfloat16": 0x3F80}
_LIMIT_BYTES = 1 << 28


def is_constant(row: Row) -> bool:
    """The event's content is all zeros or all ones on the side that is there."""
    seen = row.any_side
    on_device = EventFlag.ON_DEVICE in seen.flags
    return seen.digest in _constant_digests(seen.layout, on_device)


@lru_cache(maxsize=1024)
def _constant_digests(layout: Layout, on_device: bool) -> frozenset[tuple[int, int]]:
    digest = multilinear_digest if on_device else content_digest
    if layout.nbytes > _LIMIT_BYTES or layout.dtype.startswith(("float8", "complex32")):
        return frozenset()
    found = set()
    for value in (0, _ONE_BITS.get(layout.dtype, 1)):
        content = np.full(layout.shape, value, dtype=layout.storage)
        high, low = pairs_from_bytes(digest(content.tobytes(), layout))[0]
        found.add((int(high), int(low)))
    return frozenset(found)
