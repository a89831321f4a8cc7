"""Filters over names, and sorting of rows.

A regular expression can take longer than anybody waits, and holds the whole interpreter while it
does. So it is tried on the names in a process of its own, which is ended when its time is up.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from bisect_debugger.errors import printable
from bisect_debugger.twins import Row

PATIENCE_SECONDS = 1.0
"""How long a regular expression may take over the names of a step."""

_CHILD = """
import json, re, sys
asked = json.load(sys.stdin)
try:
    found = re.compile(asked["pattern"], re.IGNORECASE).search
except (re.error, OverflowError, RecursionError) as error:
    print(json.dumps({"error": str(error)}))
else:
    print(json.dumps({"found": [found(name) is not None for name in asked["names"]]}))
"""


class BadFilter(Exception):
    """A filter that cannot be understood or takes too long; the message says why."""


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


@dataclass(slots=True)
class NameFilter:
    """``text`` contained, ``!text`` not contained, ``re:pattern`` found; empty takes every name.

    Upper and lower case are the same.
    """

    text: str = ""
    _known: dict[str, bool] = field(default_factory=dict)

    async def learn(self, names: Iterable[str]) -> None:
        """Find out which names match; done before `matches` is asked about them.

        Raises:
            BadFilter: the pattern is no regular expression, or takes too long.
        """
        if self.text.startswith("re:"):
            await asyncio.to_thread(self.learn_now, list(names))

    def learn_now(self, names: Iterable[str]) -> None:
        """The same for a thread that may wait.

        Raises:
            BadFilter: the pattern is no regular expression, or takes too long.
        """
        if not self.text.startswith("re:"):
            return
        fresh = [name for name in dict.fromkeys(names) if name not in self._known]
        if fresh or not self._known:
            found = regex_matches(self.text[3:], fresh)
            self._known.update(zip(fresh, found, strict=True))

    def matches(self, name: str) -> bool:
        """The filter takes this name."""
        if self.text.startswith("re:"):
            return self._known.get(name, False)
        if self.text.startswith("!") and len(self.text) > 1:
            return not occurs(self.text[1:], name)
        return occurs(self.text, name)


def occurs(word: str, name: str) -> bool:
    """The word stands in the name, in upper or lower case."""
    return word.casefold() in name.casefold()


def regex_matches(
    pattern: str, names: Sequence[str], seconds: float = PATIENCE_SECONDS
) -> Sequence[bool]:
    """In which names a regular expression is found.

    Raises:
        BadFilter: it is none, or takes longer than that.
    """
    asked = json.dumps({"pattern": pattern, "names": list(names)})
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            input=asked,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise BadFilter(
            f"this pattern takes over {seconds:g} s on the names here; use a simpler one"
        ) from error
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise BadFilter(f"the pattern could not be tried: {printable(str(error), 60)}") from error
    if "error" in answer:
        raise BadFilter(f"not a regular expression: {printable(answer['error'], 60)}")
    found: list[bool] = answer["found"]
    return found


def select(
    rows: Sequence[Row], *, names: NameFilter, equal: bool, order: Order
) -> tuple[tuple[Row, ...], int]:
    """Rows to show, and how many equal ones are hidden.

    Args:
        rows: rows of a step in execution order.
        names: which names are taken.
        equal: also show rows that are equal.
        order: how to sort.
    """
    found = [row for row in rows if names.matches(row.name)]
    shown = found if equal else [row for row in found if row.diverges]
    if order is Order.NAME:
        shown = sorted(shown, key=lambda row: (row.name, row.occurrence))
    elif order is Order.GROUP:
        shown = sorted(shown, key=lambda row: row.group)
    return tuple(shown), len(found) - len(shown)
