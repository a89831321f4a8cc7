"""Opening a checkpoint of any kind; every bad file is one sentence."""

import os
import re
from pathlib import Path

from bisect_debugger.checkpoints.kinds import Kind, kind_of
from bisect_debugger.checkpoints.model import Checkpoint, NamedTensor, UnreadableCheckpoint
from bisect_debugger.checkpoints.npz_file import read_npz
from bisect_debugger.checkpoints.safetensors_file import read_safetensors
from bisect_debugger.checkpoints.torch_file import read_torch
from bisect_debugger.errors import printable

_DIGITS = re.compile(r"(\d+)")
_READERS = {
    Kind.TORCH: read_torch,
    Kind.SAFETENSORS: read_safetensors,
    Kind.NPZ: read_npz,
}


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Names and layouts of a checkpoint; elements are read tensor by tensor when asked for.

    Raises:
        UnreadableCheckpoint: the file is missing, not readable, damaged, of no known kind,
            holds no tensor, or names two records alike.
    """
    path = Path(path)
    _check_path(path)
    kind = kind_of(path)
    if kind is None:
        raise UnreadableCheckpoint(
            path,
            "this is neither a torch, a safetensors nor an .npz file",
            "name a checkpoint",
        )
    found = _READERS[kind](path)
    if not found.tensors:
        raise UnreadableCheckpoint(
            path, "the file holds no tensor that can be compared", "name a checkpoint"
        )
    tensors = tuple(sorted(found.tensors, key=lambda tensor: natural(tensor.name)))
    _check_names(path, tensors)
    return Checkpoint(found.path, tensors, found.left_out)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``layer.9`` before ``layer.10``."""
    pieces = _DIGITS.split(name)
    # Odd pieces are digits; too long for an int conversion, they sort as text.
    return tuple(
        (0, int(piece), piece) if odd and len(piece) <= 18 else (1, 0, piece)
        for piece, odd in ((piece, index % 2) for index, piece in enumerate(pieces))
    )


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise UnreadableCheckpoint(
            path, "this is a directory, not a checkpoint", "name the file in it"
        )
    if not path.exists():
        raise UnreadableCheckpoint(path, "no such file", "check the path")
    if not path.is_file():
        raise UnreadableCheckpoint(path, "this is not a regular file", "name a checkpoint")
    if not os.access(path, os.R_OK):
        raise UnreadableCheckpoint(path, "permission denied", "make the file readable for you")
    if path.stat().st_size == 0:
        raise UnreadableCheckpoint(path, "the file is empty", "save the checkpoint again")


def _check_names(path: Path, tensors: tuple[NamedTensor, ...]) -> None:
    seen: set[str] = set()
    for tensor in tensors:
        if tensor.name in seen:
            raise UnreadableCheckpoint(
                path,
                f"two records are both called {printable(tensor.name, 80)} once their keys are "
                "joined, so which one is meant cannot be told",
                "rename one of them",
            )
        seen.add(tensor.name)
