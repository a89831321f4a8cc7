"""Whether a thread waits in C for what only another thread of this process can bring.

Linux tells the system call in which a thread sleeps. Locks, semaphores and conditions of one
process sleep in a futex that is marked private: nobody outside can end that. So where whoever has
the turn sleeps in one without a time limit, and so do all threads that need no turn, it would sleep
for ever; where it waits for a process, a socket or a device, it does not sleep in one.
"""

import ctypes
import os
import platform
from collections.abc import Collection

_TASKS = "/proc/self/task"
_FUTEX = {"x86_64": b"202", "aarch64": b"98", "riscv64": b"98"}.get(platform.machine(), b"none")
_LIBRARY = ctypes.PyDLL(None)
"""Called without giving up the interpreter, so that who is looked at cannot go on meanwhile."""
_WAIT, _WAIT_BITSET = 0, 9
_PRIVATE, _CLOCK_REALTIME = 128, 256


def sleeps_at(thread: int) -> int:
    """Address of the private futex in which a thread sleeps without a time limit, else 0.

    Args:
        thread: its number, as of `threading.get_native_id`.
    """
    address, limited = _futex(thread)
    return 0 if limited else address


def nobody_else_works(but: Collection[int]) -> bool:
    """Every thread of this process but some sleeps in a private futex, for a time or for ever.

    Args:
        but: numbers of threads that are not looked at.
    """
    try:
        threads = [int(name) for name in os.listdir(_TASKS)]  # noqa: PTH208 - slow to load
    except OSError:
        return False
    return all(_futex(thread)[0] for thread in threads if thread not in but)


def _futex(thread: int) -> tuple[int, bool]:
    """Address of the private futex in which a thread sleeps or 0, and whether for a time."""
    call, *rest = _system_call(thread).split() or [b""]
    if call != _FUTEX:  # it runs, it is gone, or the system does not tell
        return 0, False
    address, operation, _, limit = (int(argument, 16) for argument in rest[:4])
    waits = operation & ~(_PRIVATE | _CLOCK_REALTIME) in (_WAIT, _WAIT_BITSET)
    return (address, limit != 0) if waits and operation & _PRIVATE else (0, False)


def _system_call(thread: int) -> bytes:
    """Number and arguments of the system call in which a thread sleeps, as Linux writes them."""
    file = _LIBRARY.open(f"{_TASKS}/{thread}/syscall".encode(), os.O_RDONLY | os.O_CLOEXEC)
    if file < 0:
        return b""
    text = ctypes.create_string_buffer(256)
    _LIBRARY.read(file, text, len(text) - 1)
    _LIBRARY.close(file)
    return text.value
