"""What a recording takes: level, window of steps, groups and name globs."""

import fnmatch
import os
from collections.abc import Iterable
from dataclasses import dataclass

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP

LEVELS = ("coarse", "digest", "stats", "full")
"""A digest per step and group; per event; also numbers; also content."""


DIGEST_VARIABLE = "BISECT_DEBUGGER_DIGEST"
"""Environment variable that says what the argument `digest` of `attach` says."""

DIGESTS = ("auto", "device")
"""Each tensor by the algorithm for where it lies; all by the one for devices."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is recorded.

    Attributes:
        level: one of `LEVELS`.
        first: first recorded step.
        last: one past the last recorded step, or None for no end.
        groups: recorded groups.
        include: name globs; empty for all.
        exclude: name globs that are left out.
        heads: module paths whose events are kept whatever the globs say.
        payload: first step and one past the last of which contents are kept, at level
            ``full``; None for all.
        digest: one of `DIGESTS`.
    """

    level: str = "digest"
    first: int = 0
    last: int | None = None
    groups: frozenset[Group] = frozenset(Group)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    payload: tuple[int, int] | None = None
    digest: str = "auto"

    def keeps_content(self, step: int) -> bool:
        """Numbers and contents of this step's events are kept, as far as the level keeps any."""
        return self.payload is None or self.payload[0] <= step < self.payload[1]

    def covers(self, step: int) -> bool:
        """The step is recorded; init always is."""
        if step == INIT_STEP:
            return True
        return step >= self.first and (self.last is None or step < self.last)

    def takes(self, group: Group, name: str, component: str) -> bool:
        """The buffer is recorded."""
        if group not in self.groups:
            return False
        if component in self.heads:
            return True
        if self.include and not any(fnmatch.fnmatchcase(name, glob) for glob in self.include):
            return False
        return not any(fnmatch.fnmatchcase(name, glob) for glob in self.exclude)


def known_level(level: str) -> str:
    """The level, if there is one of this name.

    Raises:
        UsageError: there is none.
    """
    if level not in LEVELS:
        raise UsageError(
            f"There is no level {printable(str(level))!r}; use one of {', '.join(LEVELS)}."
        )
    return level


def known_digest(name: str | None) -> str:
    """How tensors are hashed, if there is such a way.

    Args:
        name: one of `DIGESTS`, or None for what the environment says.

    Raises:
        UsageError: there is no such way.
    """
    where = "" if name is not None else f" in {DIGEST_VARIABLE}"
    name = os.environ.get(DIGEST_VARIABLE) or DIGESTS[0] if name is None else name
    if name not in DIGESTS:
        raise UsageError(
            f"There is no digest {printable(str(name))!r}{where}; use one of {', '.join(DIGESTS)}."
        )
    return name


def window_of(steps: str | None) -> tuple[int, int | None]:
    """First step, and one past the last or None, of a window written ``A:B``.

    Raises:
        UsageError: it is not of that form, or empty.
    """
    if steps is None:
        return 0, None
    first, colon, last = str(steps).partition(":")
    try:
        bounds = (int(first) if first else 0, int(last) if last else None)
    except ValueError:
        bounds = (-1, None)
    if not colon or bounds[0] < 0 or (bounds[1] is not None and bounds[1] <= bounds[0]):
        raise UsageError(
            f"{printable(str(steps))!r} is not a window of steps; write A:B with 0 <= A < B for "
            "the steps A to B - 1, and leave either out for an open end."
        )
    return bounds


def groups_of(labels: Iterable[str] | None) -> frozenset[Group]:
    """The groups with these labels, all of them for None.

    Raises:
        UsageError: a label names no group.
    """
    if labels is None:
        return frozenset(Group)
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        labels = [labels]
    found = set()
    for label in labels:
        try:
            found.add(Group.from_label(str(label)))
        except KeyError:
            known = ", ".join(group.label for group in Group)
            raise UsageError(
                f"There is no group {printable(str(label))!r}; the groups are {known}."
            ) from None
    return frozenset(found)


def globs_of(patterns: object, what: str = "include") -> tuple[str, ...]:
    """Name globs as a tuple; one string is one glob.

    Args:
        patterns: one, or several of them.
        what: the argument that they were given as.

    Raises:
        UsageError: they are something else.
    """
    if isinstance(patterns, str):
        return (patterns,)
    found: tuple[object, ...] = (patterns,)
    if isinstance(patterns, Iterable) and not isinstance(patterns, (bytes, bytearray)):
        found = tuple(patterns)
    for one in found:
        if not isinstance(one, str):
            raise UsageError(
                f"{what} was given a {type(one).__name__}; hand over a name or a list of names."
            )
    return tuple(str(one) for one in found)
