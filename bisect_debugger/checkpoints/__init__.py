"""Checkpoints compared by named tensor: .pt, .pth, .bin, .safetensors and .npz."""

from bisect_debugger.checkpoints.compare import compare_checkpoints
from bisect_debugger.checkpoints.comparison import (
    CheckpointComparison,
    TensorRow,
    TensorStatus,
    Totals,
)
from bisect_debugger.checkpoints.kinds import is_checkpoint
from bisect_debugger.checkpoints.loading import load_checkpoint
from bisect_debugger.checkpoints.model import (
    Checkpoint,
    LeftOut,
    NamedTensor,
    Part,
    UnreadableCheckpoint,
)

__all__ = [
    "Checkpoint",
    "CheckpointComparison",
    "LeftOut",
    "NamedTensor",
    "Part",
    "TensorRow",
    "TensorStatus",
    "Totals",
    "UnreadableCheckpoint",
    "compare_checkpoints",
    "is_checkpoint",
    "load_checkpoint",
]
