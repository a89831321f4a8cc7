"""What a checkpoint is to us: named tensors that are read when asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy.typing as npt

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format.layouts import Layout


class UnreadableCheckpoint(UnreadableRun):
    """A file is not a checkpoint whose tensors can be read."""


class Part(Enum):
    """What sort of record a tensor belongs to; a copy or a moment is not the model."""

    MODEL = "model"
    COPY = "copy"
    OPTIMIZER = "optimizer"
    OTHER = "other"

    @property
    def meaning(self) -> str:
        """One line for a reader who meets the part for the first time."""
        return _MEANINGS[self]


_MEANINGS = {
    Part.MODEL: "parameters and buffers of the model",
    Part.COPY: "a teacher, target or averaged copy of it",
    Part.OPTIMIZER: "optimizer state and hyper-parameters",
    Part.OTHER: "counters, generator states and other numbers beside the model",
}


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """One tensor of a checkpoint.

    Attributes:
        name: dotted name, unique in its checkpoint.
        part: what sort of record it belongs to.
        layout: element type and shape.
        read: returns the elements in the layout's storage dtype and shape; raises
            `UnreadableCheckpoint` where the file does not hold what its header says.
    """

    name: str
    part: Part
    layout: Layout
    read: Callable[[], npt.NDArray[Any]] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that is not compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint whose names and layouts are known and whose elements are still on disk.

    Attributes:
        path: the file.
        tensors: by name, in the order of the names; the order in the file means nothing.
        left_out: entries that are no tensors, or of an element type that is not known.
    """

    path: Path
    tensors: tuple[NamedTensor, ...]
    left_out: tuple[LeftOut, ...] = ()
