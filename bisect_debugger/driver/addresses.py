"""The knob `addresses`: every process below the command finds its memory at the same places.

What is sorted by `id()` or `data_ptr()`, or lies in a set by the hash that an object has from its
address, comes in another order in each run, because Linux places the memory of every new program at
random. A process may ask that this be left out for what it starts.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Collection, Iterator

KNOB = "addresses"

_ADDR_NO_RANDOMIZE = 0x0040000
"""Of `linux/personality.h`; what `setarch --addr-no-randomize` sets."""
_AS_IT_IS = 0xFFFFFFFF


def why_not() -> str:
    """Why addresses cannot be fixed here, a clause; empty where they can."""
    if not sys.platform.startswith("linux"):
        return "only Linux lets a program ask for it"
    try:
        with fixed_for((KNOB,)):
            return ""
    except OSError as error:
        return f"this system, or its container, refuses it: {error.strerror}"


@contextlib.contextmanager
def fixed_for(knobs: Collection[str]) -> Iterator[None]:
    """Programs that this thread starts meanwhile have fixed addresses, if one of the knobs says so.

    The setting is one of the thread, is inherited, and takes effect where a program is started, so
    nothing of this process changes.

    Raises:
        OSError: the system refuses it.
    """
    if KNOB not in knobs:
        yield
        return
    before = _personality(_AS_IT_IS)
    _personality(before | _ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        _personality(before)


def _personality(persona: int) -> int:
    """Set it, and return what it was."""
    library = ctypes.CDLL(None, use_errno=True)
    library.personality.argtypes = (ctypes.c_ulong,)
    before = int(library.personality(persona))
    if before < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return before
