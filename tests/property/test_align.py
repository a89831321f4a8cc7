"""Alignment: every event once, order kept, a missing call found at its place."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.twins.align import align
from bisect_debugger.twins.edit import shortest_edit

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


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40))
def test_the_shortest_edit_is_one(a: list[int], b: list[int]) -> None:
    stretches = shortest_edit(a, b, limit=80)
    assert stretches is not None
    edits = at_a = at_b = 0
    for equal, lo_a, hi_a, lo_b, hi_b in stretches:
        assert (lo_a, lo_b) == (at_a, at_b)
        at_a, at_b = hi_a, hi_b
        assert (a[lo_a:hi_a] == b[lo_b:hi_b]) or not equal
        edits += 0 if equal else hi_a - lo_a + hi_b - lo_b
    assert (at_a, at_b) == (len(a), len(b))
    assert edits == len(a) + len(b) - 2 * longest_common(a, b)
    assert shortest_edit(a, b, limit=edits) is not None
    assert not edits or shortest_edit(a, b, limit=edits - 1) is None


def longest_common(a: list[int], b: list[int]) -> int:
    lengths = [0] * (len(b) + 1)
    for left in a:
        above = lengths.copy()
        for j, right in enumerate(b):
            lengths[j + 1] = above[j] + 1 if left == right else max(above[j + 1], lengths[j])
    return lengths[-1]


class Counted(int):
    """A number that counts how often numbers are held against each other."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other


def test_a_long_step_with_one_event_missing_is_aligned_in_linear_time() -> None:
    count = 20_000
    keys = [Counted(index % 10) for index in range(count)]
    matches = align(
        keys, keys[1:], [("a", k) for k in range(count)], [("b", k) for k in range(1, count)]
    )
    assert [match for match in matches if match[0] is None or match[1] is None] == [
        (0, None, False)
    ]
    assert not any(moved for _, _, moved in matches)
    assert Counted.compared < 30 * count


def test_a_long_step_in_utter_disorder_is_aligned_by_occurrence() -> None:
    count = 5000
    matches = align(
        [index % 7 for index in range(count)],
        [index % 11 for index in range(count)],
        [f"a{index}" for index in range(count)],
        [f"b{index}" for index in range(count)],
    )
    assert sorted(a for a, _, _ in matches if a is not None) == list(range(count))
    assert sorted(b for _, b, _ in matches if b is not None) == list(range(count))
