"""The open run file as the system sees it: room, descriptor, name, and the ways in which it ends.

HDF5 never learns that a write failed, because it does not survive that: everything is asked
beforehand, and where a file is lost HDF5 is closed over a file in memory instead.
"""

import atexit
import contextlib
import os
from pathlib import Path

import h5py

from bisect_debugger.format import schema
from probes.descriptor import (
    Gone,
    NoRoom,
    check_ours,
    divert,
    identity_of,
    is_allowed,
    reserve,
    standing_in,
    weak_call,
)
from probes.run_file import FIRST_BYTES, descriptor_of
from probes.tables import Table, fitted

SPARE_BYTES = 128 << 10
"""Room kept beyond what a flush needs: enough to say why a run ended, and to close it."""

_OF_HDF5 = (OSError, RuntimeError, ValueError)


class FileOnDisk:
    """A run file that is being written. Closed at once in a forked child."""

    def __init__(self, file: h5py.File, path: Path, *, fsync: bool) -> None:
        """Take a file that was just created.

        Args:
            file: the file, laid out.
            path: its name.
            fsync: a flush waits until the disk has it.
        """
        self.path = path
        self._file = file
        self._descriptor = descriptor_of(file)
        self._identity = identity_of(self._descriptor) or (0, 0)
        self._fsync = fsync
        self._reserved = FIRST_BYTES
        # Bound on the file's length: when it was asked for last, and all growth announced since.
        self._grown = int(file.id.get_filesize())
        self._pid = os.getpid()
        os.register_at_fork(after_in_child=weak_call(self._after_fork))

    def make_room(self, need: int, ahead: int = 0) -> None:
        """Make sure, before HDF5 is asked to write, that it can.

        Args:
            need: bytes by which the file grows at most.
            ahead: bytes beyond that for later calls, where there are so many: the system is asked
                once for many writes that follow each other.

        Raises:
            Gone: the file is not ours any more.
            NoRoom: there is no room.
        """
        check_ours(self._descriptor, self._identity)
        end = self._grown + need + SPARE_BYTES
        if ahead and end <= self._reserved and is_allowed(end):
            # Asking HDF5 how long the file is would cost more than all of this.
            self._grown += need
            return
        self._grown = int(self._file.id.get_filesize()) + need
        end = self._grown + SPARE_BYTES
        if ahead and end > self._reserved:
            with contextlib.suppress(NoRoom):
                reserve(self._descriptor, self._reserved, end + ahead)
                self._reserved = end + ahead
        reserve(self._descriptor, self._reserved, end)
        self._reserved = max(self._reserved, end)

    def flush(self) -> None:
        """Hand all that HDF5 holds to the system, and to the disk where that was asked for."""
        self._file.flush()
        if self._fsync:
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close it in order; room that was reserved and not needed goes back."""
        # A second descriptor: whatever the file is called by now, and whether it still has a name.
        own = os.dup(self._descriptor)
        try:
            self._file.close()
            os.ftruncate(own, os.fstat(own).st_size)
            if self._fsync:
                os.fsync(own)
        finally:
            os.close(own)

    def end_after(self, error: Exception, reason: str) -> None:
        """End the file in the way that a failure to write leaves open.

        Args:
            error: what `make_room` or HDF5 raised.
            reason: the same in words.
        """
        if isinstance(error, NoRoom):
            self.close_with(reason)
        elif isinstance(error, Gone):
            self.let_go(reason)
        else:
            self.abandon()

    def close_with(self, reason: str) -> None:
        """Say why the run ends in the spare room of the last flush, and close it.

        Where even that room was taken back, the file stays as the last flush left it.
        """
        if not is_allowed(int(self._file.id.get_filesize()) + SPARE_BYTES):
            self.abandon()
            return
        self._say_the_end(reason)
        self.close()

    def abandon(self) -> None:
        """HDF5 could not write: the file stays as it is, and closing must not fail again."""
        if not self._file:
            # Closed before it failed: the descriptor's number may be another's by now.
            return
        with contextlib.suppress(*_OF_HDF5):
            divert(self._descriptor)
            self._file.close()

    def let_go(self, reason: str) -> None:
        """The file was deleted, or its descriptor is another's, who may be using it right now.

        In the second case HDF5 is left alone until the program ends: then it has to be closed, or
        it would flush what it holds into whatever stands at the descriptor.
        """
        if identity_of(self._descriptor) == self._identity:
            self.abandon()
        else:
            atexit.register(self._close_elsewhere, reason)

    def _close_elsewhere(self, reason: str) -> None:
        if os.getpid() != self._pid:
            return
        # Nobody is left to tell if it fails; what was flushed is in the file.
        with (
            contextlib.suppress(*_OF_HDF5),
            standing_in(self._descriptor, self.path, self._identity),
        ):
            if identity_of(self._descriptor) == self._identity:
                self._say_the_end(reason)
            self._file.close()

    def _say_the_end(self, reason: str) -> None:
        end = Table(self._file, schema.END)
        end.append(*fitted("end", schema.END_INCOMPLETE, f"recording stopped: {reason}"))
        end.write()

    def _after_fork(self) -> None:
        """In a forked child: HDF5 must not write to the parent's file, nor to one of the child's.

        At its exit it would flush what the parent had not yet written, and where the child has
        closed all descriptors by then, as a daemon does, into a file that it opened since.
        """
        if self._file:
            with contextlib.suppress(*_OF_HDF5), standing_in(self._descriptor, None, (0, 0)):
                self._file.close()
