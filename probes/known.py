"""Tensors that were hashed in this step already, and whether they still hold the same.

A write that torch does not count (through numpy, `.data`, shared memory or a kernel of one's own)
leaves the version as it is. Such writes are common where memory belongs to the trainer, as a
batch's does, so there a tensor is only known from one call to the next one that it is passed on to.
"""

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


class KnownTensors(dict[int, Known]):
    """Tensors that were hashed in this step, by the id of the object."""

    def __init__(self) -> None:
        """Know none."""
        super().__init__()
        self._passing: set[int] = set()

    def remember(self, tensor: torch.Tensor, layout: Layout, digest: bytes) -> None:
        """Know a tensor that was just hashed, where torch counts its writes."""
        version = version_of(tensor)
        # A parameter is written through `.data` as a matter of course.
        if version < 0 or type(tensor) is not torch.Tensor:
            return
        key = id(tensor)
        self[key] = Known(
            weakref.ref(tensor), version, tensor.data_ptr(), tensor.shape, layout, digest
        )
        if not _is_from_graph(tensor):
            self._passing.add(key)

    def forget(self, value: object) -> None:
        """Have this tensor hashed again when it is seen next."""
        self.pop(id(value), None)

    def forget_passing(self, kept: object = None) -> None:
        """A module has returned: have hashed again what no operator under autograd made.

        Its memory may be the trainer's own, written to between any two calls.

        Args:
            kept: what the module returned, which may be passed on from here.
        """
        if not self._passing:
            return
        key = id(kept)
        kept_one = {key} if key in self._passing else set()
        gone, self._passing = self._passing - kept_one, kept_one
        for key in gone:
            self.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self._passing.clear()


def _is_from_graph(tensor: torch.Tensor) -> bool:
    """An operator made it, and autograd counts on nobody writing to it unseen."""
    try:
        return tensor.grad_fn is not None
    except RuntimeError:
        # A view whose base was written in place may refuse to tell.
        return False
