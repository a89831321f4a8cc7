"""Room for the frames that hooks put between a module's call and its forward.

The stand-in for a module's call is one level of Python's recursion more, on top of four, or of
three since Python 3.12, which counts no calls of C. A module that calls itself, as one over a tree
does, would reach the limit at that much less depth than bare, so the limit is raised by as much
while a recording goes on. A limit that the trainer sets meanwhile is left alone.
"""

import sys
from contextlib import suppress

HIGHEST = 20_000
"""Limit above which nothing is raised: somebody has made room, and the C stack is finite."""

OWN_FRAMES = 100
"""Most frames of the probes, numpy and HDF5 that lie over one of torch's."""

_LEVELS = 3 if sys.version_info >= (3, 12) else 4
_NO_LIMIT = 0
_taking = 0
_limits = (_NO_LIMIT, _NO_LIMIT)


class Headroom:
    """Holds the limit up while installed. Those of several recordings share one."""

    def __init__(self) -> None:
        """Raise the limit, unless another recording has."""
        global _taking, _limits  # noqa: PLW0603 - one limit a process
        _taking += 1
        bare = sys.getrecursionlimit()
        if _taking == 1 and bare <= HIGHEST:
            _limits = (bare, bare + bare // _LEVELS + OWN_FRAMES)
            sys.setrecursionlimit(_limits[1])

    def remove(self) -> None:
        """Put it back with the last recording, unless the trainer set one of its own."""
        global _taking, _limits  # noqa: PLW0603 - one limit a process
        _taking -= 1
        if _taking == 0 and sys.getrecursionlimit() == _limits[1]:
            # Refused where more frames than that lie below; then it stays.
            with suppress(RecursionError):
                sys.setrecursionlimit(_limits[0])
            _limits = (_NO_LIMIT, _NO_LIMIT)
