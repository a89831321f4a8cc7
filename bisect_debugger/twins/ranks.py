"""How groups of steps compare, as ranks that arrays can hold: the graver the higher."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import GROUP_COUNT
from bisect_debugger.twins.model import Row, Status

_ORDER = (Status.NOT_RECORDED, Status.EQUAL, Status.ONE_SIDED, Status.DIFFERS)
"""What a stretch is said to be: the last of these that any of its steps is."""

HIGHEST = len(_ORDER) - 1

Ranks = npt.NDArray[np.int8]
"""Indices into `_ORDER`."""


def digest_ranks(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> Ranks:
    """Ranks (n, GROUP_COUNT) from group digests of the same shape."""
    present = np.logical_or(a != 0, b != 0).astype(np.int8)
    apart = (a != b).astype(np.int8)
    both = np.logical_and(a != 0, b != 0).astype(np.int8)
    # Absent 0, equal 1, one-sided 2, different 3.
    ranks: Ranks = present + apart + apart * both
    return ranks


def statuses_of_ranks(ranks: Ranks) -> tuple[Status, ...]:
    """A status per group."""
    return tuple(_ORDER[rank] for rank in ranks.tolist())


def ranks_of_rows(rows: Sequence[Row]) -> Ranks:
    """(GROUP_COUNT,) ranks of one aligned step."""
    ranks = np.zeros(GROUP_COUNT, dtype=np.int8)
    for row in rows:
        ranks[row.group] = max(ranks[row.group], 3 if row.diverges else 1)
    return ranks
