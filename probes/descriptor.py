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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE of Linux: blocks are allocated, the file's length stays."""


class NoRoom(OSError):
    """The next write would not fit; nothing was written, and the file is as it was."""


class Gone(OSError):
    """The file is not ours to write any more; nothing was written."""


Identity = tuple[int, int]
"""Device and inode of a file: the same for every descriptor and name that it has."""


def identity_of(descriptor: int) -> Identity | None:
    """What file stands at a descriptor, None where it is closed."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_ours(descriptor: int, ours: Identity) -> None:
    """Make sure that what is written to a descriptor reaches our file, and is kept.

    A program that closes every descriptor, as a daemon does, closes HDF5's too, and the next
    file that it opens gets the same number: what HDF5 writes would go into that file.

    Raises:
        Gone: the descriptor was closed or is another file's, or the file was deleted.
    """
    try:
        found = os.fstat(descriptor)
    except OSError:
        found = None
    if found is None or (found.st_dev, found.st_ino) != ours:
        raise Gone("the program closed the file that is recorded into")
    if not found.st_nlink:
        raise Gone("the file that is recorded into was deleted")


@contextmanager
def standing_in(descriptor: int, path: Path | None, ours: Identity) -> Iterator[None]:
    """Let our file stand at a descriptor that may be another's by now, and give it back after.

    Args:
        descriptor: the number that HDF5 writes to.
        path: where our file was; without one, or where another file is there now, what is
            written vanishes.
        ours: what our file is.
    """
    theirs, passed_on = None, False
    with suppress(OSError):
        theirs, passed_on = os.dup(descriptor), os.get_inheritable(descriptor)
    divert(descriptor)
    with suppress(OSError):
        if path is not None:
            _put_back(descriptor, path, ours)
    put = identity_of(descriptor)
    try:
        yield
    finally:
        if theirs is not None:
            os.dup2(theirs, descriptor, inheritable=passed_on)
            os.close(theirs)
        elif identity_of(descriptor) == put:
            os.close(descriptor)


def _put_back(descriptor: int, path: Path, ours: Identity) -> None:
    again = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if identity_of(again) == ours:
            os.dup2(again, descriptor, inheritable=False)
    finally:
        os.close(again)


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
    # Asked also of room that was reserved: the program may have lowered the limit since.
    if not is_allowed(end):
        raise _no_room(errno.EFBIG)
    if end <= done:
        return
    if _allocate(descriptor, done, end - done):
        return
    disk = os.fstatvfs(descriptor)
    if disk.f_bavail * disk.f_frsize < end - os.fstat(descriptor).st_size:
        raise _no_room(errno.ENOSPC)


def is_allowed(end: int) -> bool:
    """The process's limit of a file's size is not below this length in bytes."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return limit in (resource.RLIM_INFINITY, -1) or end <= limit


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
    if isinstance(error, Gone):
        return str(error)
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
