"""Which kind of checkpoint a file is: its content decides, its suffix where that is damaged."""

from enum import Enum
from pathlib import Path

MAX_HEADER_BYTES = 100_000_000
"""Longest header of a safetensors file; the limit that the format itself sets."""

_HDF5 = b"\x89HDF\r\n\x1a\n"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_HEAD_BYTES = 16

LEGACY_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How a file of torch before 1.6 begins: the pickled number 0x1950a86a20f9469cfc6c."""


class Kind(Enum):
    """A kind of checkpoint file."""

    TORCH = "torch"
    SAFETENSORS = "safetensors"
    NPZ = "npz"


_BY_SUFFIX = {
    ".pt": Kind.TORCH,
    ".pth": Kind.TORCH,
    ".bin": Kind.TORCH,
    ".safetensors": Kind.SAFETENSORS,
    ".npz": Kind.NPZ,
}


def is_checkpoint(path: str | Path) -> bool:
    """Whether to read this file as a checkpoint and not as a run.

    A file that cannot be read, or whose content is neither, is one if its suffix says so, so
    that the error about it speaks of checkpoints.
    """
    path = Path(path)
    try:
        return not path.is_dir() and kind_of(path) is not None
    except (OSError, ValueError):
        # A name that no file can have.
        return False


def kind_of(path: Path) -> Kind | None:
    """The kind of checkpoint, or None for a run or anything else."""
    by_suffix = _BY_SUFFIX.get(path.suffix.lower())
    if path.exists() and not path.is_file():
        # Opening a pipe would wait for its writer.
        return None
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        size = path.stat().st_size
    except OSError:
        return by_suffix
    if head.startswith(_HDF5):
        return None
    return _by_content(path, head, size) or by_suffix


def _by_content(path: Path, head: bytes, size: int) -> Kind | None:
    if head.startswith(_ZIP):
        return _of_archive(path)
    if head.startswith(LEGACY_TORCH[:_HEAD_BYTES]):
        return Kind.TORCH
    length = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and length <= min(MAX_HEADER_BYTES, size - 8):
        return Kind.SAFETENSORS
    return None


def _of_archive(path: Path) -> Kind | None:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    if any(name == "data.pkl" or name.endswith("/data.pkl") for name in names):
        return Kind.TORCH
    return Kind.NPZ if any(name.endswith(".npy") for name in names) else None
