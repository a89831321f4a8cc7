"""Cells of steps x groups as bytes, so that a million steps are compared at the speed of numpy."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.groups import GROUP_COUNT
from bisect_debugger.twins.model import Status

SEVERITY: tuple[Status, ...] = (
    Status.NOT_RECORDED,
    Status.EQUAL,
    Status.WITHIN,
    Status.DIFFERS,
    Status.ONE_SIDED,
    Status.NONFINITE,
)
"""From harmless to grave; the code of a status is its place here and one, 0 is not read yet."""

CODES = {status: code for code, status in enumerate(SEVERITY, 1)}

Codes = npt.NDArray[np.uint8]
"""(n, GROUP_COUNT) codes of statuses."""


def digest_codes(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> Codes:
    """Codes from the digests of each group of each step; 0 stands for no events.

    Args:
        a: (n, GROUP_COUNT) of the first run.
        b: (n, GROUP_COUNT) of the second.
    """
    codes = np.full(a.shape, CODES[Status.ONE_SIDED], dtype=np.uint8)
    there_a, there_b = a != 0, b != 0
    codes[there_a & there_b] = CODES[Status.DIFFERS]
    codes[there_a & (a == b)] = CODES[Status.EQUAL]
    codes[~there_a & ~there_b] = CODES[Status.NOT_RECORDED]
    return codes


def codes_of(statuses: Sequence[Status]) -> Codes:
    """(GROUP_COUNT,) codes of one step."""
    return np.array([CODES[status] for status in statuses], dtype=np.uint8).reshape(GROUP_COUNT)


def statuses_of(codes: Codes) -> tuple[Status, ...]:
    """The statuses of one step's codes, all of which were read."""
    return tuple(SEVERITY[code - 1] for code in codes.tolist())
