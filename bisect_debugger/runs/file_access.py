"""Opening and closing files in which HDF5 does not find what it expects.

A reader in SWMR mode takes a block whose checksum is wrong for one that is just being written, and
reads it again, twice as long after each time. HDF5 does so a hundred times, which for a damaged
file is longer than anybody waits.
"""

import contextlib
import ctypes
import os
from pathlib import Path

import h5py

READ_ATTEMPTS = 24
"""A block is read so often. Waiting 1 ns at first and twice as long each time, the last attempt
comes 17 ms after the first, and a writer is done with a block in microseconds."""


def open_while_written(path: Path) -> h5py.File:
    """A file that carries its writer's mark, for reading.

    Raises:
        OSError: it cannot be opened, or is damaged.
    """
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    _limit_attempts(access)
    mode = h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ
    return h5py.File(h5py.h5f.open(os.fsencode(path), mode, access))


def close_read(file: h5py.File) -> None:
    """Close a file that was only read.

    HDF5 may refuse to close a damaged one. All that was asked of it is read by then, and nothing
    waits to be written.
    """
    with contextlib.suppress(OSError, RuntimeError):
        file.close()


def _limit_attempts(access: h5py.h5p.PropFAID) -> None:
    """`H5Pset_metadata_read_attempts`, which h5py has no method for.

    The symbol is looked up through h5py's own extension, which has loaded the library.
    """
    set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts
    set_attempts.argtypes, set_attempts.restype = (ctypes.c_int64, ctypes.c_uint), ctypes.c_int
    set_attempts(access.id, READ_ATTEMPTS)
