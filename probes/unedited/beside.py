"""Threads of the program beside the one that trains: what they do is seen in part only.

Their calls of modules, loaders and environments are recorded; what they draw, write or decide is
not. That they are there is worth knowing where something differs that nothing recorded explains.
"""

import contextlib
import functools
import re
import threading
from collections.abc import Callable
from typing import Any

from bisect_debugger.format.schema import THREAD_BESIDE
from probes.unedited.program_threads import is_of_the_program
from probes.writer import GroupDigests

_MOST_SORTS = 100
"""Sorts of threads that are told of: a program may give each thread a name of its own."""


class ThreadsBeside:
    """Tells of each sort of thread once, when a step is closed; also of those that ended in it."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Know those that run already, and see those that are started from now on.

        Args:
            tell: called with a line for each sort.
        """
        self._tell = tell
        self._told: set[str] = set()
        # A dictionary, because threads may start threads while it is read.
        self._seen: dict[str, None] = {}
        here = threading.current_thread()
        for thread in threading.enumerate():
            if thread is not here:
                self._see(thread)
        _when_started(self._see)

    def step_closed(self, step: int, digests: GroupDigests | None) -> None:
        """Tell of those that were not told of yet."""
        training = _sort_of(threading.current_thread())
        for sort in tuple(self._seen):
            if sort not in self._told and sort != training:
                self._told.add(sort)
                self._tell(f"{THREAD_BESIDE}{sort}")

    def _see(self, thread: threading.Thread) -> None:
        if len(self._seen) < _MOST_SORTS and is_of_the_program(thread):
            self._seen[_sort_of(thread)] = None


def _sort_of(thread: threading.Thread) -> str:
    return re.sub(r"\d+", "N", thread.name)


def _when_started(see: Callable[[threading.Thread], None]) -> None:
    kind: Any = threading.Thread
    original = kind.start

    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        # Before: one that has ended does not know any more what it ran.
        with contextlib.suppress(Exception):
            see(self)
        original(self)

    kind.start = start
