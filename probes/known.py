"""Tensors that were hashed in this step already, and whether they still hold the same.

A write that torch does not count (through numpy, `.data`, shared memory or a kernel of one's own)
leaves the version as it is. Such writes are common where memory belongs to the trainer, as a
batch's does, so there a tensor is only known from one call to the next one that it is passed on to.
"""

import weakref

import torch

from probes.slots import Form

Known = tuple[weakref.ref[torch.Tensor], int, int, tuple[bytes, Form]]
"""A tensor that was hashed in this step: its object, version and address; digest and form."""


def unless_written(known: Known, value: object) -> tuple[bytes, Form] | None:
    """Digest and form of a tensor that is known; None if somebody wrote to it since."""
    reference, version, address, found = known
    tensor = reference()
    # Another object may have the id by now.
    if (
        tensor is None
        or tensor is not value
        or tensor._version != version
        or tensor.data_ptr() != address
        or tensor.shape != found[1].shape
    ):
        return None
    return found


def version_of(tensor: torch.Tensor) -> int:
    """How often the tensor was written in place; -1 where torch does not count."""
    return -1 if tensor.is_inference() else tensor._version


class KnownTensors(dict[int, Known]):
    """Tensors that were hashed in this step, by the id of the object."""

    def __init__(self) -> None:
        """Know none."""
        super().__init__()
        self.passing: set[int] = set()
        """Those that are known only while they are handed on."""

    def remember(self, tensor: torch.Tensor, found: tuple[bytes, Form], made: bool) -> None:
        """Know a tensor that was just hashed, where torch counts its writes.

        Args:
            tensor: the tensor.
            found: its digest and form.
            made: an operator under autograd made it, which counts on nobody writing to it unseen;
                any other is known only while it is handed on.
        """
        # A parameter is written through `.data` as a matter of course.
        if type(tensor) is not torch.Tensor:
            return
        try:
            version = tensor._version
        except RuntimeError:
            # Made in inference mode.
            return
        key = id(tensor)
        self[key] = (weakref.ref(tensor), version, tensor.data_ptr(), found)
        if not made:
            self.passing.add(key)

    def forget(self, value: object) -> None:
        """Have this tensor hashed again when it is seen next."""
        self.pop(id(value), None)

    def forget_passing(self, kept: object = None) -> None:
        """A module has returned: have hashed again what no operator under autograd made.

        Its memory may be the trainer's own, written to between any two calls.

        Args:
            kept: what the module returned, which may be passed on from here.
        """
        key = id(kept)
        if not self.passing or (len(self.passing) == 1 and key in self.passing):
            return
        kept_one = {key} if key in self.passing else set()
        gone, self.passing = self.passing - kept_one, kept_one
        for key in gone:
            self.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self.passing.clear()
