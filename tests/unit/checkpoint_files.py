"""Writers of checkpoint files for tests: independent of the readers, byte by byte."""

import json
from pathlib import Path
from typing import Any

Entry = tuple[str, tuple[int, ...], bytes]
"""Element type as safetensors spells it, shape, raw little-endian content."""


def safetensors_bytes(
    tensors: dict[str, Entry], metadata: dict[str, str] | None = None, gap: bytes = b""
) -> bytes:
    """A safetensors file, with ``gap`` before every tensor's bytes."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        data += gap
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        data += content
    return with_header(json.dumps(header).encode(), data)


def with_header(header: bytes, data: bytes = b"") -> bytes:
    """Length, header, data."""
    return len(header).to_bytes(8, "little") + header + data


def one_entry(data: bytes = bytes(8), **fields: Any) -> bytes:
    """A file of one tensor ``w`` of two float32, with fields of its header replaced."""
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | fields
    return with_header(json.dumps({"w": entry}).encode(), data)


def write(path: Path, content: bytes) -> Path:
    """Write and give the path back."""
    path.write_bytes(content)
    return path
