"""Tensors that were hashed in this step already, and whether they still hold the same."""

import weakref
from dataclasses import dataclass

import torch

from bisect_debugger.format.layouts import Layout


@dataclass(frozen=True, slots=True)
class Known:
    """A tensor that was hashed in this step."""

    tensor: weakref.ref[torch.Tensor]
    version: int
    address: int
    shape: torch.Size
    layout: Layout
    digest: bytes

    def is_still(self, value: object) -> bool:
        """It is this very tensor, and nobody wrote to it since."""
        tensor = self.tensor()
        return (
            tensor is not None
            and tensor is value
            and self.version == tensor._version
            and self.address == tensor.data_ptr()
            and self.shape == tensor.shape
        )


def version_of(tensor: torch.Tensor) -> int:
    """How often the tensor was written in place; -1 where torch does not count."""
    return -1 if tensor.is_inference() else tensor._version
