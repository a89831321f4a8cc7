"""Reading .safetensors: a little-endian u64 header length, a JSON header, then raw elements.

Source: the format description of the safetensors project. We read more than its own reader
does in one respect: bytes that no tensor claims are passed over, because padding is no content.
Everything that a header can lie about is checked before an element is read.
"""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from bisect_debugger.checkpoints.kinds import MAX_HEADER_BYTES
from bisect_debugger.checkpoints.model import (
    Checkpoint,
    LeftOut,
    NamedTensor,
    UnreadableCheckpoint,
)
from bisect_debugger.checkpoints.parts import part_of
from bisect_debugger.errors import printable
from bisect_debugger.format.layouts import Layout

_DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}

_MAX_AXES = 32
_MAX_ELEMENTS = 2**56
"""More than any file holds, and few enough for numpy, which multiplies extents next to a zero."""
_SAVE_AGAIN = "save the checkpoint again"


def read_safetensors(path: Path) -> Checkpoint:
    """Names and layouts of a safetensors file.

    Raises:
        UnreadableCheckpoint: the file is truncated, or its header is not what the format
            allows: too long, no JSON object, or offsets outside the file, overlapping, or of
            another size than element type and shape need.
    """
    header, data_start, data_bytes = _header(path)
    tensors: list[NamedTensor] = []
    left_out: list[LeftOut] = []
    spans: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, begin, end = _entry(path, name, entry, data_bytes)
        spans.append((begin, end, name))
        if dtype not in _DTYPES:
            left_out.append(LeftOut(name, f"element type {printable(dtype, 40)} is not known"))
            continue
        layout = Layout(_DTYPES[dtype], shape)
        if layout.nbytes != end - begin:
            raise _refused(
                path,
                name,
                f"claims {end - begin} bytes, and {layout.text} needs {layout.nbytes}",
            )
        read = partial(_elements, path, name, layout, data_start + begin)
        tensors.append(NamedTensor(name, part_of(name), layout, read))
    _check_overlap(path, spans)
    return Checkpoint(path, tuple(tensors), tuple(left_out))


def _header(path: Path) -> tuple[dict[str, Any], int, int]:
    """The parsed header, where the elements begin, and how many bytes they have."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > size - 8:
            raise UnreadableCheckpoint(
                path,
                f"its header claims {length} bytes and the file has {size}, so it is cut short "
                "or no safetensors file",
                _SAVE_AGAIN,
            )
        if length > MAX_HEADER_BYTES:
            raise UnreadableCheckpoint(
                path,
                f"its header claims {length} bytes, and the format allows {MAX_HEADER_BYTES}",
                "do not use it",
            )
        raw = stream.read(length)
    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        reason = printable(str(error), 120)
        raise UnreadableCheckpoint(
            path, f"its header is not the JSON of a safetensors file ({reason})", _SAVE_AGAIN
        ) from error
    if not isinstance(header, dict):
        raise UnreadableCheckpoint(path, "its header is no JSON object", _SAVE_AGAIN)
    return header, 8 + length, size - 8 - length


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _entry(
    path: Path, name: str, entry: object, data_bytes: int
) -> tuple[str, tuple[int, ...], int, int]:
    if not isinstance(entry, dict):
        raise _refused(path, name, "is no JSON object")
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str):
        raise _refused(path, name, "has no element type")
    if not _are_sizes(shape) or len(shape) > _MAX_AXES or _product(shape) > _MAX_ELEMENTS:
        raise _refused(path, name, "has no valid shape")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise _refused(path, name, "has no valid data offsets")
    begin, end = offsets
    if not begin <= end <= data_bytes:
        raise _refused(
            path,
            name,
            f"claims bytes {begin} to {end} of {data_bytes}, so the file is cut short or its "
            "header is wrong",
        )
    return dtype, tuple(shape), begin, end


def _product(shape: list[int]) -> int:
    return math.prod(max(extent, 1) for extent in shape)


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    # bool is an int to isinstance, and no size.
    return isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)


def _check_overlap(path: Path, spans: list[tuple[int, int, str]]) -> None:
    claimed, owner = 0, ""
    for begin, end, name in sorted(spans):
        if begin == end:
            continue
        if begin < claimed:
            raise _refused(path, name, f"overlaps {printable(owner, 80)}")
        claimed, owner = end, name


def _elements(path: Path, name: str, layout: Layout, start: int) -> npt.NDArray[Any]:
    """Read, not mapped: a file that shrinks meanwhile is then an error and not a crash."""
    values = np.empty(layout.elements, dtype=layout.storage)
    with path.open("rb") as stream:
        stream.seek(start)
        got = stream.readinto(values.view(np.uint8).data) if layout.nbytes else 0
    if got != layout.nbytes:
        raise _refused(path, name, "could not be read in full, so the file was changed")
    return values.reshape(layout.shape)


def _refused(path: Path, name: str, what: str) -> UnreadableCheckpoint:
    return UnreadableCheckpoint(path, f"tensor {printable(name, 80)} {what}", _SAVE_AGAIN)
