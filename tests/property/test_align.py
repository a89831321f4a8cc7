"""Alignment: every event once, order kept, a missing call found at its place."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.twins.align import align

keys = st.lists(st.integers(0, 4), max_size=30)


@given(keys, keys)
def test_every_event_stands_exactly_once(a: list[int], b: list[int]) -> None:
    matches = align(a, b, [f"a{i}" for i in range(len(a))], [f"b{i}" for i in range(len(b))])
    assert sorted(x for x, _, _ in matches if x is not None) == list(range(len(a)))
    assert sorted(y for _, y, _ in matches if y is not None) == list(range(len(b)))
    assert all(a[x] == b[y] for x, y, _ in matches if x is not None and y is not None)


@given(keys, keys)
def test_what_did_not_move_keeps_its_order(a: list[int], b: list[int]) -> None:
    matches = align(a, b, list(range(len(a))), list(range(len(b))))
    kept = [(x, y) for x, y, moved in matches if x is not None and y is not None and not moved]
    assert kept == sorted(kept)
    assert all(left[1] < right[1] for left, right in pairwise(kept))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.data())
def test_a_missing_call_is_found_where_it_is_missing(keys: list[int], data: st.DataObject) -> None:
    digests = [f"content {index}" for index in range(len(keys))]
    gap = data.draw(st.integers(0, len(keys) - 1))
    shorter = keys[:gap] + keys[gap + 1 :]
    matches = align(keys, shorter, digests, digests[:gap] + digests[gap + 1 :])
    assert [(x, y) for x, y, _ in matches if y is None] == [(gap, None)]
    assert len(matches) == len(keys)
