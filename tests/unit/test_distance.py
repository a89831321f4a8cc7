"""How far two contents are apart, to rank by."""

import math

import numpy as np
import pytest

from bisect_debugger.metrics.distance import BLOCK_ELEMENTS, Distance


def _size(a: list[float], b: list[float]) -> float:
    distance = Distance()
    distance.add(np.array(a, np.float32), np.array(b, np.float32), "float32")
    return distance.size


@pytest.mark.parametrize(
    ("a", "b", "size"),
    [
        ([3.0, 4.0], [3.0, 4.5], 0.1),
        ([0.0, 0.0], [0.0, 1.0], math.inf),
        ([math.nan, 3.0, 4.0], [math.nan, 3.0, 4.5], 0.1),
        ([math.nan, 1.0], [1.0, 1.0], math.inf),
        # A NaN that stands elsewhere is on one side only, twice.
        ([math.nan, 1.0], [1.0, math.nan], math.inf),
    ],
)
def test_what_is_finite_on_one_side_only_is_furthest(
    a: list[float], b: list[float], size: float
) -> None:
    assert _size(a, b) == pytest.approx(size)


def test_blocks_add_up() -> None:
    ones = [1.0] * (BLOCK_ELEMENTS + 3)
    assert _size(ones, [*ones[:-1], 2.0]) == pytest.approx(len(ones) ** -0.5)
