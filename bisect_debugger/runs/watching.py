"""Ending work that reads for long: a call before each read, which may raise.

Whoever opens runs deep within a comparison does not know who waits for it, so the one who does says
it around all of it, and for his thread alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]

_check: ContextVar[Check | None] = ContextVar("check", default=None)


@contextmanager
def reads_checked(check: Check) -> Iterator[None]:
    """Have runs that are opened in here make a call before each of their reads.

    Args:
        check: what it raises ends the work that wanted to read.
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_in_force() -> Check | None:
    """The call that runs opened here and now make, or None."""
    return _check.get()
