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
from xxhash import xxh3_128_digest

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import INIT_STEP
from probes.memory import Unsupported, compact, dense_bytes, reach
from probes.scalars import scalar_bytes

UNRESOLVED = -1
LEFT_OUT = -2
"""Values of `Slot.buffer` that are no id: not asked for yet; not selected."""

_KINDS = frozenset((torch.Tensor, torch.nn.Parameter))

_HIGHEST_OFFSET = 1 << 40
"""No tensor begins so many bytes behind the beginning of its memory: an address from here on is
that of memory and not an offset from nothing. Memory below is asked whether it is there."""


class Form:
    """An element type and a shape, with what hashing such a tensor takes. One object for each.

    Attributes:
        dtype: torch's element type; None for raw bytes.
        shape: torch's shape.
        is_complex: its elements may be conjugated lazily.
        layout: both as the file knows them.
        count: number of elements.
        seed: the layout's seed.
        nbytes: size of the content.
        at: the memory of that size at an address, as xxhash reads it.
        number: id of the layout in the run.
    """

    __slots__ = (
        "at",
        "count",
        "dtype",
        "is_complex",
        "layout",
        "nbytes",
        "number",
        "seed",
        "shape",
    )

    def __init__(
        self, dtype: torch.dtype | None, shape: torch.Size, layout: Layout, number: int
    ) -> None:
        """Work out what depends on the layout alone."""
        self.dtype, self.shape, self.layout, self.number = dtype, shape, layout, number
        self.seed, self.nbytes = layout.seed, layout.nbytes
        self.count = shape.numel()
        self.is_complex = layout.dtype.startswith("complex")
        self.at: Callable[[int], Any] = (ctypes.c_ubyte * self.nbytes).from_address


class Forms:
    """The forms that a recording has met."""

    def __init__(self, number: Callable[[Layout], int] = lambda layout: 0) -> None:
        """Know none.

        Args:
            number: the id of a layout in the run.
        """
        self._number = number
        self._known: dict[object, Form] = {}

    def of(self, tensor: torch.Tensor) -> Form | None:
        """The form of a plain tensor; None where the file holds no such tensor."""
        key = (tensor.dtype, tensor.shape)
        found = self._known.get(key)
        if found is None:
            try:
                layout, _ = dense_bytes(tensor)
            except Unsupported:
                return None
            found = self._add(key, Form(*key, layout, self._number(layout)))
        return found

    def of_bytes(self, size: int) -> Form:
        """The form of raw bytes."""
        found = self._known.get(size)
        if found is None:
            layout = Layout("bytes", (size,))
            form = Form(None, torch.Size((size,)), layout, self._number(layout))
            found = self._add(size, form)
        return found

    def of_number(self, layout: Layout) -> Form:
        """The form of a Python number."""
        found = self._known.get(layout.dtype)
        if found is None:
            form = Form(None, torch.Size(layout.shape), layout, self._number(layout))
            found = self._add(layout.dtype, form)
        return found

    def _add(self, key: object, form: Form) -> Form:
        if len(self._known) >= _MOST_FORMS:
            self._known.clear()
        self._known[key] = form
        return form


_MOST_FORMS = 4096
"""Most forms that are kept; a trainer whose batches vary in length meets many."""

_LOOSE = Forms()
_NO_FORM = Form(None, torch.Size((-1,)), Layout("uint8", (0,)), 0)
_NO_FORM.nbytes = -1


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
        form: element type and shape of what it held last. Another thread may change it at any
            time, so what a digest belongs to is what `read` returned with it.
        forms: forms of the recording.
        seen: how often its place was asked for in step `seen_in`.
        seen_in: the step in which it was seen last.
    """

    __slots__ = (
        "_needed",
        "_offset",
        "_strides",
        "buffer",
        "component",
        "form",
        "forms",
        "group",
        "kind",
        "location",
        "name",
        "role",
        "seen",
        "seen_in",
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
        forms: Forms = _LOOSE,
    ) -> None:
        """Know the names and nothing of the content yet."""
        self.group, self.name, self.component, self.role = group, name, component, role
        self.subject, self.location, self.kind = subject, location, kind
        self.buffer = UNRESOLVED
        self.form, self.forms = _NO_FORM, forms
        self.seen = 0
        self.seen_in = INIT_STEP - 1
        self._strides: tuple[int, ...] | None = None
        self._offset = self._needed = 0

    def texts(self, suffix: str = "") -> tuple[str, str, str, str, str, str]:
        """Name, component, role, subject, location and kind, of the buffer or a part of it."""
        name, role = self.name + suffix, self.role + suffix
        return name, self.component, role, self.subject, self.location, self.kind

    def read(self, value: object) -> tuple[bytes, Form] | None:
        """16-byte digest of a plain tensor, a Python number or bytes, and its form.

        Returns:
            None for any other value, which takes the slow path.
        """
        tensor: torch.Tensor = value  # type: ignore[assignment]
        if type(tensor) not in _KINDS:
            return self._read_other(value)
        # What torch's own classes stand for beside dense tensors shows one way or another: on
        # another device, negated or conjugated lazily, of an element type that has no form
        # (quantized), or without shape, strides or memory, for which torch raises.
        try:
            if not tensor.is_cpu or tensor.is_neg():
                return None
            form = self.form
            if tensor.dtype is not form.dtype or tensor.shape != form.shape:
                known = self.forms.of(tensor)
                if known is None:
                    return None
                form = self.form = known
                self._strides = None
            if form.is_complex and tensor.is_conj():
                return None
            if not tensor.is_contiguous():
                # Asked first: the copy would read memory that is gone.
                if not self._is_strided_there(tensor, form):
                    return None
                tensor = compact(tensor)
            address = tensor.data_ptr()
            # Sharded training frees memory and leaves the tensor: null plus the tensor's offset.
            if address < _HIGHEST_OFFSET and not _is_there(tensor, form):
                return None
        except (RuntimeError, NotImplementedError):
            return None
        # Reading through the address calls no operator: no mode, no autocast, no autograd.
        return xxh3_128_digest(form.at(address), form.seed), form

    def _read_other(self, value: object) -> tuple[bytes, Form] | None:
        if type(value) is bytes:
            return self.read_bytes(value)
        number = scalar_bytes(value)
        if number is None:
            return None
        layout, raw = number
        form = self.forms.of_number(layout)
        return xxh3_128_digest(raw, form.seed), form

    def digest(self, value: object) -> bytes | None:
        """The digest alone; see `read`."""
        found = self.read(value)
        return None if found is None else found[0]

    def read_bytes(self, raw: bytes) -> tuple[bytes, Form]:
        """16-byte digest of raw bytes, as which they are recorded, and their form."""
        form = self.form
        if len(raw) != form.nbytes or form.dtype is not None:
            form = self.form = self.forms.of_bytes(len(raw))
        return xxh3_128_digest(raw, form.seed), form

    def _is_strided_there(self, tensor: torch.Tensor, form: Form) -> bool:
        strides, offset = tensor.stride(), int(tensor.storage_offset())
        if strides != self._strides or offset != self._offset:
            self._strides, self._offset = strides, offset
            self._needed = reach(tensor)
        return not form.nbytes or self._needed <= tensor.untyped_storage().nbytes()


class DeviceSlot(Slot):
    """A slot of a recording that uses the algorithm for devices everywhere: no fast path."""

    __slots__ = ()

    def read(self, value: object) -> tuple[bytes, Form] | None:
        """None for a tensor: each takes the slow path, in which it is hashed where it lies."""
        return None if issubclass(type(value), torch.Tensor) else super().read(value)


def _is_there(tensor: torch.Tensor, form: Form) -> bool:
    return not form.nbytes or (
        tensor.untyped_storage().data_ptr() != 0
        and reach(tensor) <= tensor.untyped_storage().nbytes()
    )


def content_of(value: object) -> npt.NDArray[np.uint8]:
    """(nbytes,) raw bytes, row-major, of what `Slot.read` reads; they may alias live memory."""
    if isinstance(value, torch.Tensor):
        return dense_bytes(value)[1]
    number = scalar_bytes(value)
    raw = value if isinstance(value, bytes) else number[1] if number else b""
    return np.frombuffer(raw, dtype=np.uint8)
