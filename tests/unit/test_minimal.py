"""Delta debugging: the smallest set of conditions, and how few are tried."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.driver.minimal import smallest

NAMES = tuple("abcdefghijk")


def tried(needed: set[str]) -> tuple[frozenset[str] | None, list[frozenset[str]]]:
    asked: list[frozenset[str]] = []

    def holds(some: frozenset[str]) -> bool:
        asked.append(some)
        return needed <= some

    return smallest(NAMES, holds), asked


@given(st.sets(st.sampled_from(NAMES), min_size=1))
def test_the_set_that_is_needed_is_found(needed: set[str]) -> None:
    found, asked = tried(needed)
    assert found is not None
    assert set(found) == needed
    assert len(asked) == len(set(asked))  # nothing is tried twice
    assert frozenset(NAMES) not in asked  # which is known to hold


def test_a_single_one_is_found_by_trying_one_after_the_other() -> None:
    found, asked = tried({"c"})
    assert found is not None
    assert set(found) == {"c"}
    assert asked == [frozenset("a"), frozenset("b"), frozenset("c")]


@pytest.mark.parametrize("pair", list(combinations("aefk", 2)))
def test_any_of_several_sets_is_minimal(pair: tuple[str, str]) -> None:
    def holds(some: frozenset[str]) -> bool:
        return set(pair) <= some or {"b", "c", "d"} <= some

    found = smallest(NAMES, holds)
    assert found in (frozenset(pair), frozenset("bcd"))


def test_what_cannot_be_decided_is_not_guessed() -> None:
    assert smallest(NAMES, lambda some: None) is None
