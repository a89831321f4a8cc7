"""The binary search against a linear scan, and its cost as a count."""

import math

from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.twins.search import first_true


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_first_true_is_the_linear_answer_in_logarithmic_looks(count: int, change: int) -> None:
    looks = []

    def predicate(index: int) -> bool:
        looks.append(index)
        return index >= change

    assert first_true(predicate, 0, count) == min(change, count)
    assert len(looks) <= (math.log2(count) + 2 if count else 0)
