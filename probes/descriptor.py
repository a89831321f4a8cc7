"""The file descriptor below HDF5: room is reserved before a write, and a lost one is diverted.

HDF5 does not survive a write that fails: its caches keep what they could not write, and
closing the file afterwards crashes the process, which is the trainer. So the writer reserves
the room for all it is about to write, while HDF5 knows nothing of it, and stops in order
where there is none.
"""

import ctypes
import errno
import os
import re
import resource
import tempfile
import weakref
from collections.abc import Callable

_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE of Linux: blocks are allocated, the file's length stays."""


class NoRoom(OSError):
    """The next write would not fit; nothing was written, and the file is as it was."""


def reserve(descriptor: int, done: int, end: int) -> None:
    """Make sure that the file can grow to a length.

    On Linux the blocks are allocated, so nobody else can take them. Where the file system
    cannot do that, its free space is asked instead.

    Args:
        descriptor: of the open file.
        done: length in bytes up to which earlier calls reserved.
        end: length in bytes that the file must be able to reach.

    Raises:
        NoRoom: the disk, a quota or the process's file size limit does not allow it.
    """
    if end <= done:
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit not in (resource.RLIM_INFINITY, -1) and end > limit:
        raise _no_room(errno.EFBIG)
    if _allocate(descriptor, done, end - done):
        return
    disk = os.fstatvfs(descriptor)
    if disk.f_bavail * disk.f_frsize < end - os.fstat(descriptor).st_size:
        raise _no_room(errno.ENOSPC)


def divert(descriptor: int) -> None:
    """Let whatever is still written to a descriptor vanish; the file on disk stays as it is.

    It goes to a nameless file in memory, which unlike the null device can also be truncated.
    """
    if hasattr(os, "memfd_create"):
        sink = os.memfd_create("discarded")
    else:
        with tempfile.TemporaryFile() as stream:
            sink = os.dup(stream.fileno())
    try:
        os.dup2(sink, descriptor, inheritable=False)
    finally:
        os.close(sink)


def _allocate(descriptor: int, start: int, length: int) -> bool:
    """Allocate blocks; False where system or file system cannot.

    Raises:
        NoRoom: they can, and there is no room.
    """
    allocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if allocate is None:
        return False
    allocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    while allocate(descriptor, _KEEP_SIZE, start, length):
        number = ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _no_room(number)
        if number != errno.EINTR:
            return False
    return True


def _no_room(number: int) -> NoRoom:
    return NoRoom(number, os.strerror(number))


def reason_of(error: Exception) -> str:
    """Why writing failed, in the system's own words where it has some."""
    if isinstance(error, NoRoom):
        return str(error.strerror)
    # HDF5 wraps what the system said in a page of its own state.
    of_system = re.search(r"error message = '([^']+)'", str(error))
    if of_system:
        return of_system[1]
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def weak_call(method: Callable[[], None]) -> Callable[[], None]:
    """A hook that does not keep its object alive; fork hooks cannot be taken back."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        alive = reference()
        if alive is not None:
            alive()

    return call
