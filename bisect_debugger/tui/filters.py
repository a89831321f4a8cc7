"""Filters over names, and sorting of rows."""

import re
from collections.abc import Callable, Sequence
from enum import Enum

from bisect_debugger.twins import Row


class BadFilter(Exception):
    """A filter that cannot be understood; the message says why."""


class Order(Enum):
    """How rows are sorted."""

    EXECUTION = "execution"
    NAME = "name"
    GROUP = "group"

    @property
    def following(self) -> "Order":
        """The next order, around in a circle."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


def name_filter(text: str) -> Callable[[str], bool]:
    """A predicate on names: ``text`` contained, ``!text`` not contained, ``re:pattern`` found.

    Raises:
        BadFilter: the pattern is not a regular expression.
    """
    if text.startswith("re:"):
        try:
            pattern = re.compile(text[3:])
        except re.error as error:
            raise BadFilter(f"not a regular expression: {error}") from error
        return lambda name: pattern.search(name) is not None
    if text.startswith("!") and len(text) > 1:
        return lambda name: text[1:] not in name
    return lambda name: text in name


def select(
    rows: Sequence[Row], *, text: str, equal: bool, order: Order
) -> tuple[tuple[Row, ...], int]:
    """Rows to show, and how many equal ones are hidden.

    Args:
        rows: rows of a step in execution order.
        text: filter; empty for all.
        equal: also show rows that are equal.
        order: how to sort.

    Raises:
        BadFilter: the filter is no filter.
    """
    matches = name_filter(text) if text else lambda name: True
    found = [row for row in rows if matches(row.name)]
    shown = found if equal else [row for row in found if row.status.diverges]
    if order is Order.NAME:
        shown = sorted(shown, key=lambda row: (row.name, row.occurrence))
    elif order is Order.GROUP:
        shown = sorted(shown, key=lambda row: row.group)
    return tuple(shown), len(found) - len(shown)
