"""Reading .npz: a zip archive of .npy members, without ever unpickling.

Headers are read by numpy's own parser, elements when asked for. A member's size must be what
its header says, so that memory stays within what the archive itself declares.
"""

import struct
import tokenize
import warnings
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from bisect_debugger.checkpoints.model import (
    Checkpoint,
    LeftOut,
    NamedTensor,
    UnreadableCheckpoint,
)
from bisect_debugger.checkpoints.parts import part_of
from bisect_debugger.errors import printable
from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What zipfile and numpy's header parser raise about damaged or hostile archives."""

_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_SAVE_AGAIN = "save the checkpoint again"


def read_npz(path: Path) -> Checkpoint:
    """Names and layouts of an .npz file.

    Raises:
        UnreadableCheckpoint: the archive is damaged, encrypted or oddly compressed, names a
            member twice, or a member's size is not what its header says.
    """
    tensors: list[NamedTensor] = []
    left_out: list[LeftOut] = []
    seen: set[str] = set()
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                if name in seen:
                    raise _refused(path, name, "stands in the archive twice")
                seen.add(name)
                if name == info.filename:
                    left_out.append(LeftOut(name, "is no array"))
                    continue
                found = _member(path, archive, info, name)
                if isinstance(found, LeftOut):
                    left_out.append(found)
                else:
                    tensors.append(found)
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    return Checkpoint(path, tuple(tensors), tuple(left_out))


def _member(
    path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str
) -> NamedTensor | LeftOut:
    if info.flag_bits & _ENCRYPTED or info.compress_type not in _COMPRESSIONS:
        raise _refused(path, name, "is encrypted, or compressed in a way numpy never uses")
    with archive.open(info) as raw:
        stream = cast("BinaryIO", raw)
        version = npy.read_magic(stream)
        if version == (3, 0):
            return LeftOut(name, "holds records and not numbers")
        if version not in ((1, 0), (2, 0)):
            raise _refused(path, name, f"is of .npy version {version}, which is not known")
        parse = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, _, dtype = parse(stream)
        header_bytes = stream.tell()
    if dtype.hasobject:
        return LeftOut(name, "holds pickled Python objects, which are never loaded")
    kind = dtype.newbyteorder("=").name
    if dtype.kind not in "biufc" or kind not in STORAGE_DTYPES:
        return LeftOut(name, f"element type {printable(str(dtype), 40)} is not known")
    if any(extent < 0 for extent in shape):
        raise _refused(path, name, "has a negative extent")
    layout = Layout(kind, tuple(int(extent) for extent in shape))
    if info.file_size != header_bytes + layout.nbytes:
        raise _refused(
            path,
            name,
            f"has {info.file_size - header_bytes} bytes, and {layout.text} needs {layout.nbytes}",
        )
    read = partial(_elements, path, info.filename, layout)
    return NamedTensor(name, part_of(name), layout, read)


def _elements(path: Path, member: str, layout: Layout) -> npt.NDArray[Any]:
    try:
        with (
            zipfile.ZipFile(path) as archive,
            archive.open(member) as stream,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            values: npt.NDArray[Any] = npy.read_array(cast("BinaryIO", stream), allow_pickle=False)
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    if values.shape != layout.shape or values.dtype.newbyteorder("=").name != layout.dtype:
        raise _refused(path, member, "is not what it was a moment ago, so the file was changed")
    if layout.dtype == "bool":
        values = values.view(np.uint8)
    # A layout is little-endian and row-major; an .npy may be neither.
    return np.ascontiguousarray(values, dtype=layout.storage).reshape(layout.shape)


def _refused(path: Path, name: str, what: str) -> UnreadableCheckpoint:
    return UnreadableCheckpoint(path, f"array {printable(name, 80)} {what}", _SAVE_AGAIN)


def _damaged(path: Path, error: Exception) -> UnreadableCheckpoint:
    reason = printable(str(error) or type(error).__name__, 120)
    return UnreadableCheckpoint(path, f"the .npz archive is damaged ({reason})", _SAVE_AGAIN)
