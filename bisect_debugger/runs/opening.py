"""Opening a file that may be missing, damaged, foreign or hostile.

Every check happens before a value is read: links and external storage are refused, shapes
and element types must be the schema's, and text filters must be HDF5's own.
"""

import math
import os
from pathlib import Path

import h5py
import numpy as np

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format import schema
from bisect_debugger.format.digests import DIGEST_ALGORITHM
from bisect_debugger.runs import superblock
from bisect_debugger.runs.file_access import close_read, open_while_written

_RECORD_AGAIN = "record the run again"

_MOST_CHUNK_BYTES = 16 << 20
"""A chunk is read as a whole; those of a run have 512 KiB at most."""

# HDF5 keeps what it saw of a dataset first. While a run is still being written, all that a step
# refers to is in the file before the step is, so steps must be looked at before the rest.
_STEPS_FIRST = (
    *schema.STEPS,
    *(column for column in schema.ALL_COLUMNS if column not in schema.STEPS),
)


def open_file(path: Path) -> h5py.File:
    """A validated file, open for reading.

    A file whose writer was killed still carries the writer's mark; it is opened in SWMR
    mode, which needs no repair tool.

    Raises:
        UnreadableRun: the file is missing, not readable, not a run, from a newer version,
            damaged, or holds something a run never holds.
    """
    _check_path(path)
    file = _open(path)
    try:
        _check_header(path, file)
        tables = _Tables(path, file)
        tables.find("environment", "environment")
        size = path.stat().st_size
        for column in _STEPS_FIRST:
            if column in schema.LATER and not _has_table(file, column):
                continue
            table, _, name = column.path.rpartition("/")
            node = tables.find(table, column.path)
            _check_link(path, node, name, column.path)
            _check_column(path, node[name], column, size)
    except UnreadableRun:
        close_read(file)
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        close_read(file)
        raise damaged(path, error) from error
    return file


def damaged(path: Path, error: Exception) -> UnreadableRun:
    """The error for a file whose content cannot be decoded."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return UnreadableRun(path, f"the file is damaged ({reason[:120]})", _RECORD_AGAIN)


def _check_path(path: Path) -> None:
    try:
        _check_file(path)
    except PermissionError as error:
        # Of a folder above it, or by rules that asking for access does not see.
        raise UnreadableRun(path, "permission denied", "make the file readable for you") from error
    except (OSError, ValueError) as error:
        # A name that is too long, or no name at all.
        what = (getattr(error, "strerror", None) or str(error)).lower()
        raise UnreadableRun(path, what, "check the path") from error


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UnreadableRun(path, "this is a directory, not a run", "name the .h5 file in it")
    if not path.exists():
        raise UnreadableRun(path, "no such file", "check the path")
    if not path.is_file():
        raise UnreadableRun(path, "this is not a regular file", "name a recorded .h5 file")
    if not os.access(path, os.R_OK):
        raise UnreadableRun(path, "permission denied", "make the file readable for you")
    if path.stat().st_size == 0:
        raise UnreadableRun(path, "the file is empty, so nothing was recorded", _RECORD_AGAIN)
    head = superblock.read_superblock(path)
    if head[:8] != superblock.SIGNATURE:
        raise UnreadableRun(path, "this is not an HDF5 file", "name a recorded .h5 file")
    # HDF5 itself would search for what is missing for minutes.
    what = superblock.damage(path, head)
    if what:
        raise UnreadableRun(path, f"the file is damaged ({what})", "copy it again or record again")


def _open(path: Path) -> h5py.File:
    try:
        if superblock.writer_was_killed(path):
            return open_while_written(path)
        return h5py.File(path, "r")
    except PermissionError as error:
        raise UnreadableRun(path, "permission denied", "make the file readable for you") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise damaged(path, error) from error


def _check_header(path: Path, file: h5py.File) -> None:
    if _text_attribute(file, "format") != schema.FORMAT_NAME:
        raise UnreadableRun(
            path, "an HDF5 file, but not one that bisect-debugger recorded", "name a recorded file"
        )
    version = file.attrs.get("version")
    if not isinstance(version, (int, np.integer)):
        raise UnreadableRun(path, "the file has no version number", _RECORD_AGAIN)
    if version < 1:
        raise UnreadableRun(path, f"there is no format version {version}", _RECORD_AGAIN)
    if version < schema.OLDEST_READ:
        raise UnreadableRun(
            path,
            f"recorded in format version {version}, whose digests can miss a difference",
            _RECORD_AGAIN,
        )
    if version > schema.FORMAT_VERSION:
        raise UnreadableRun(
            path,
            f"recorded in format version {version}, and this release reads up to "
            f"{schema.FORMAT_VERSION}",
            "upgrade bisect-debugger",
        )
    algorithm = _text_attribute(file, "digest_algorithm")
    if algorithm != DIGEST_ALGORITHM:
        raise UnreadableRun(
            path, f"unknown digest algorithm {algorithm[:40]!r}", "upgrade bisect-debugger"
        )


def _text_attribute(file: h5py.File, name: str) -> str:
    value = file.attrs.get(name, "")
    return value if isinstance(value, str) else ""


def _check_column(path: Path, dataset: object, column: schema.Column, size: int) -> None:
    if not isinstance(dataset, h5py.Dataset):
        raise UnreadableRun(path, f"{column.path} is not a dataset", _RECORD_AGAIN)
    if dataset.external or dataset.is_virtual:
        raise UnreadableRun(
            path, f"{column.path} points outside the file, which a run never does", "do not use it"
        )
    if dataset.dtype != np.dtype(column.dtype):
        raise UnreadableRun(path, f"{column.path} has another element type", _RECORD_AGAIN)
    width = dataset.shape[1:] if dataset.ndim else None
    if width != ((column.width,) if column.width else ()):
        raise UnreadableRun(path, f"{column.path} has another shape", _RECORD_AGAIN)
    if not set(dataset._filters) <= {"gzip", "shuffle"}:
        raise UnreadableRun(path, f"{column.path} uses an unknown filter", "do not use it")
    _check_size(path, dataset, column, size)


def _has_table(file: h5py.File, column: schema.Column) -> bool:
    return bool(file.id.links.exists(column.path.split("/")[0].encode()))


class _Tables:
    """The groups of a file that hold its columns, each reached by hard links alone."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self._path = path
        self._found: dict[str, h5py.Group] = {"": file}

    def find(self, name: str, shown: str) -> h5py.Group:
        """A group.

        Args:
            name: its path in the file.
            shown: what an error names as missing, e.g. a column in it.

        Raises:
            UnreadableRun: it is not there, or is something else.
        """
        found = self._found.get(name)
        if found is None:
            above, _, last = name.rpartition("/")
            node = self.find(above, shown)
            _check_link(self._path, node, last, shown)
            found = node[last]
            if not isinstance(found, h5py.Group):
                raise UnreadableRun(self._path, f"the table {shown} is missing", _RECORD_AGAIN)
            self._found[name] = found
        return found


def _check_link(path: Path, node: h5py.Group, name: str, shown: str) -> None:
    # The low-level calls: node.get(name, getlink=True) takes five times as long.
    raw = name.encode()
    if not node.id.links.exists(raw):
        raise UnreadableRun(path, f"the table {shown} is missing", _RECORD_AGAIN)
    if node.id.links.get_info(raw).type != h5py.h5l.TYPE_HARD:
        raise UnreadableRun(
            path, f"{shown} is a link out of the file, which a run never has", "do not use it"
        )


def _check_size(path: Path, dataset: h5py.Dataset, column: schema.Column, size: int) -> None:
    """Refuse a table that claims far more rows than the file has bytes for."""
    chunk_bytes = math.prod(dataset.chunks or (0,)) * dataset.dtype.itemsize
    if chunk_bytes > _MOST_CHUNK_BYTES:
        raise UnreadableRun(path, f"{column.path} has absurd chunks", _RECORD_AGAIN)
    allowed = size * (1024 if column.compressed else 1) + 4096 * dataset.dtype.itemsize
    if dataset.size * dataset.dtype.itemsize > max(allowed, 1 << 20):
        raise UnreadableRun(path, f"{column.path} claims an absurd number of rows", _RECORD_AGAIN)
