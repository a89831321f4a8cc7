"""Gradients of twins that one factor turns into each other: somebody scaled them otherwise."""

import numpy as np

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import to_float64
from bisect_debugger.twins import Pair, Row

_EPSILON = {"float64": 2.3e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.9e-3}
"""Distance from 1 to the next number of an element type."""

_ROUNDINGS = 4
_MOVED = 16
"""A factor nearer to 1 than so many roundings is none."""


def common_factor(pair: Pair, row: Row) -> float | None:
    """What all elements of the first run are multiplied by in the second.

    Returns:
        None where there is no such factor, it is 1, or no payload was recorded.
    """
    if (
        row.group is not Group.GRAD
        or row.a is None
        or row.b is None
        or row.a.layout != row.b.layout
    ):
        return None
    epsilon = _EPSILON.get(row.a.layout.dtype)
    left, right = pair.values(row)
    if epsilon is None or left is None or right is None or left.size < 2:
        return None
    one = to_float64(left, row.a.layout.dtype).reshape(-1)
    other = to_float64(right, row.a.layout.dtype).reshape(-1)
    with np.errstate(all="ignore"):
        factor = float(one @ other / (one @ one))
        beside = float(np.linalg.norm(other - factor * one) / np.linalg.norm(other))
    found = beside <= _ROUNDINGS * epsilon and abs(factor - 1) >= _MOVED * epsilon
    return factor if found else None


def same_factor(one: float, other: float, row: Row) -> bool:
    """Both are the same number but for rounding."""
    epsilon = _EPSILON.get(row.any_side.layout.dtype, 0.0)
    return abs(one - other) <= _MOVED * epsilon * max(abs(one), abs(other))
