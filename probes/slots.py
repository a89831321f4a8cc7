"""Slots: one buffer each, with what stays the same from event to event worked out once.

Every hook runs thousands of times a second, so a plain tensor is hashed where it lies: no
operator is called, nothing is copied, and layout, seed and memory window are worked out again
only when element type or shape change.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch._C import _dispatch_keys
from xxhash import xxh3_128_digest

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from probes.memory import Unsupported, compact, dense_bytes, reach

UNRESOLVED = -1
LEFT_OUT = -2
"""Values of `Slot.buffer` that are no id: not asked for yet; not selected."""

_KINDS = frozenset((torch.Tensor, torch.nn.Parameter))


def _keys_of_plain_tensors() -> frozenset[int]:
    """Dispatch keys of dense tensors on the CPU, of autograd or of inference mode.

    Anything else that a tensor can be (sparse, quantized, nested, on another device, wrapped
    by a transform, lazily conjugated or negated) shows in its keys, and is not plain.
    """
    plain = torch.empty(1)
    with torch.inference_mode():
        inference = torch.empty(1)
    return frozenset(
        _dispatch_keys(tensor).raw_repr()
        for tensor in (plain, torch.nn.Parameter(plain), inference)
    )


_PLAIN_KEYS = _keys_of_plain_tensors()


class Slot:
    """One buffer: what it is called, and its content as the fast path sees it.

    Attributes:
        group: what sort of buffer it is.
        name: full name.
        component: what a person can change.
        role: what it is to its component.
        subject: name of the buffer it is about.
        location: ``file:line`` of the component's code.
        kind: class of the component.
        buffer: its id in the run, `UNRESOLVED` or `LEFT_OUT`.
        layout: element type and shape of the plain tensor that it held last.
        nbytes: size of that content.
    """

    __slots__ = (
        "_at",
        "_dtype",
        "_needed",
        "_offset",
        "_seed",
        "_shape",
        "_strides",
        "buffer",
        "component",
        "group",
        "kind",
        "layout",
        "location",
        "name",
        "nbytes",
        "role",
        "subject",
    )

    def __init__(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        subject: str = "",
        location: str = "",
        kind: str = "",
    ) -> None:
        """Know the names and nothing of the content yet."""
        self.group, self.name, self.component, self.role = group, name, component, role
        self.subject, self.location, self.kind = subject, location, kind
        self.buffer = UNRESOLVED
        self.layout = Layout("uint8", (0,))
        self.nbytes = 0
        self._dtype: torch.dtype | None = None
        self._shape: torch.Size | None = None
        self._seed = 0
        self._at: Callable[[int], Any] = bytes
        self._strides: tuple[int, ...] | None = None
        self._offset = self._needed = 0

    def texts(self, suffix: str = "") -> tuple[str, str, str, str, str, str]:
        """Name, component, role, subject, location and kind, of the buffer or a part of it."""
        name, role = self.name + suffix, self.role + suffix
        return name, self.component, role, self.subject, self.location, self.kind

    def digest(self, value: object) -> bytes | None:
        """16-byte digest of a plain tensor, whose layout `layout` is from now on.

        Returns:
            None for any other value, which takes the slow path.
        """
        tensor: torch.Tensor = value  # type: ignore[assignment]
        if type(tensor) not in _KINDS or _dispatch_keys(tensor).raw_repr() not in _PLAIN_KEYS:
            return None
        if (tensor.dtype is not self._dtype or tensor.shape != self._shape) and not self._learn(
            tensor
        ):
            return None
        if not tensor.is_contiguous():
            # Asked first: the copy would read memory that is gone.
            if not self._is_strided_there(tensor):
                return None
            tensor = compact(tensor)
        address = tensor.data_ptr()
        # Sharded training frees memory and leaves the tensor. Where the tensor begins at the
        # beginning of its memory the address tells; elsewhere null plus an offset is not null.
        if (not address or tensor.storage_offset()) and not self._is_there(tensor):
            return None
        # Reading through the address calls no operator: no mode, no autocast, no autograd.
        digest: bytes = xxh3_128_digest(self._at(address), self._seed)
        return digest

    def digest_bytes(self, raw: bytes) -> bytes:
        """16-byte digest of raw bytes, as which they are recorded."""
        if len(raw) != self.nbytes or self.layout.dtype != "bytes":
            self.layout = Layout("bytes", (len(raw),))
            self.nbytes, self._dtype, self._seed = len(raw), None, self.layout.seed
        digest: bytes = xxh3_128_digest(raw, self._seed)
        return digest

    def _is_strided_there(self, tensor: torch.Tensor) -> bool:
        strides, offset = tensor.stride(), int(tensor.storage_offset())
        if strides != self._strides or offset != self._offset:
            self._strides, self._offset = strides, offset
            self._needed = reach(tensor)
        return not self.nbytes or self._needed <= tensor.untyped_storage().nbytes()

    def _is_there(self, tensor: torch.Tensor) -> bool:
        return not self.nbytes or reach(tensor) <= tensor.untyped_storage().nbytes()

    def _learn(self, tensor: torch.Tensor) -> bool:
        try:
            self.layout, _ = dense_bytes(tensor)
        except Unsupported:
            return False
        self._dtype, self._shape = tensor.dtype, tensor.shape
        self._strides = None
        self._seed, self.nbytes = self.layout.seed, self.layout.nbytes
        self._at = (ctypes.c_ubyte * self.nbytes).from_address
        return True


class DeviceSlot(Slot):
    """A slot of a recording that uses the algorithm for devices everywhere: no fast path."""

    __slots__ = ()

    def digest(self, value: object) -> bytes | None:
        """None: every tensor takes the slow path, in which it is hashed where it lies."""
        return None


def content_of(tensor: torch.Tensor) -> npt.NDArray[np.uint8]:
    """(nbytes,) raw bytes of a plain tensor, row-major; they may alias memory that is live."""
    _, content = dense_bytes(tensor)
    return content
