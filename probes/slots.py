"""Slots: one buffer each, with what stays the same from event to event worked out once.

Every hook runs thousands of times a second, so a plain tensor is hashed where it lies: no
operator is called, nothing is copied, and layout, seed and memory window are worked out again
only when element type or shape change.
"""

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch._C import _dispatch_keys
from xxhash import xxh3_128_digest

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from probes.memory import Unsupported, _reach, dense_bytes, unseen

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
        "_seed",
        "_shape",
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

    def _is_there(self, tensor: torch.Tensor) -> bool:
        return not self.nbytes or _reach(tensor) <= tensor.untyped_storage().nbytes()

    def _learn(self, tensor: torch.Tensor) -> bool:
        try:
            self.layout, _ = dense_bytes(tensor)
        except Unsupported:
            return False
        self._dtype, self._shape = tensor.dtype, tensor.shape
        self._seed, self.nbytes = self.layout.seed, self.layout.nbytes
        self._at = (ctypes.c_ubyte * self.nbytes).from_address
        return True


def compact(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in row-major order, outside the graph; a copy where it is not so already.

    A trainer's own modes (a count of operators, selective checkpointing, which replays
    operators by number) must not see the copy.
    """
    if tensor.is_contiguous():
        return tensor
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        with unseen():
            return tensor.detach().contiguous()
    return tensor.detach().contiguous()


def content_of(tensor: torch.Tensor) -> npt.NDArray[np.uint8]:
    """(nbytes,) raw bytes of a plain tensor, row-major; they may alias memory that is live."""
    _, content = dense_bytes(tensor)
    return content


_SCALARS: dict[type, tuple[Layout, struct.Struct]] = {
    float: (Layout("float64", ()), struct.Struct("<d")),
    int: (Layout("int64", ()), struct.Struct("<q")),
    bool: (Layout("bool", ()), struct.Struct("?")),
}


def scalar_bytes(value: object) -> tuple[Layout, bytes] | None:
    """Layout and bytes of a Python number; None for what is none, or an enormous one."""
    found = _SCALARS.get(type(value))
    if found is None:
        return None
    layout, packer = found
    try:
        return layout, packer.pack(value)
    except struct.error:
        return None
