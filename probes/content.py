"""From a recorded value to dense parts: element type, shape and contiguous bytes.

A part's content may alias the live tensor's memory. It is valid only until the hook that
asked for it returns; hash it or copy it there. Nothing here draws from a generator, records
autograd history or raises a tensor's version.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.parameter import is_lazy
from torch.utils import _python_dispatch

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout
from bisect_debugger.format.schema import EventFlag
from probes.device_digest import device_digest
from probes.memory import (
    EMPTY,
    Unsupported,
    checked,
    dense_bytes,
    dense_layout,
    is_plain,
    unseen,
)
from probes.nests import Beyond, leaves
from probes.scalars import scalar_bytes

__all__ = ["Part", "Unsupported", "dense_bytes", "is_plain", "leaves", "parts"]

_ON_DEVICE = int(EventFlag.ON_DEVICE)
_COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A dense piece of a value.

    Attributes:
        suffix: what is appended to the buffer's name, empty for a dense value.
        layout: element type and shape.
        read: (nbytes,) uint8 array over the raw bytes, row-major; None where they lie on a device
            and have not been fetched.
        tensor: the dense tensor that it is, if it is one.
    """

    suffix: str
    layout: Layout
    read: npt.NDArray[np.uint8] | None
    tensor: torch.Tensor | None = None

    @property
    def content(self) -> npt.NDArray[np.uint8]:
        """(nbytes,) uint8 array over the raw bytes, row-major; fetched from where they lie."""
        if self.read is not None:
            return self.read
        assert self.tensor is not None, "what is no tensor lies on the host"
        return dense_bytes(self.tensor)[1]

    def digest(self, *, on_host: bool) -> tuple[bytes, int]:
        """16-byte digest, and the flag of an event whose algorithm is that for devices, or 0.

        Args:
            on_host: use the host's algorithm for what lies on the host.
        """
        if self.tensor is None or (on_host and self.read is not None):
            return content_digest(self.content, self.layout), 0
        with unseen():
            return device_digest(self.tensor, self.layout), _ON_DEVICE


def parts(value: object) -> list[Part]:
    """The dense parts of a value.

    Args:
        value: a tensor of any kind, a numpy array or scalar, a Python bool, int, float,
            complex, str or bytes. An int beyond 64 bits is recorded as its decimal text.

    Raises:
        Unsupported: the value has no content that can be read here.
    """
    if isinstance(value, torch.Tensor):
        if is_plain(value):
            return [Part("", *dense_bytes(value), value)]
        return _special_tensor(value)
    number = scalar_bytes(value)
    if number is not None:
        layout, raw = number
        return [Part("", layout, np.frombuffer(raw, dtype=np.uint8))]
    if isinstance(value, (np.ndarray, np.generic)):
        return [_array(value)]
    if isinstance(value, (bool, float, complex)):
        return [_array(np.asarray(value))]
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return [_array(np.asarray(value, dtype=np.int64))]
        return [_text("str", str(value).encode())]
    if isinstance(value, str):
        return [_text("str", value.encode("utf-8", "surrogatepass"))]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return [_text("bytes", bytes(value))]
    if isinstance(value, Beyond):
        raise Unsupported(value.reason)
    raise Unsupported(f"a value of type {type(value).__name__}")


def _special_tensor(tensor: torch.Tensor) -> list[Part]:
    """A tensor that is not simply a block of host memory."""
    with unseen():
        try:
            return _pieces(tensor, "")
        except Unsupported:
            raise
        except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            # A subclass may refuse anything; the run is worth more than this one tensor.
            reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
            raise Unsupported(f"a {type(tensor).__name__} that cannot be read: {reason}") from error


def _pieces(tensor: torch.Tensor, suffix: str) -> list[Part]:
    _refuse_without_values(tensor)
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return _subclass(tensor, suffix)
    if tensor.is_nested:
        return [
            part
            for index, piece in enumerate(tensor.unbind())
            for part in _pieces(piece, f"{suffix}#values[{index}]")
        ]
    if tensor.is_quantized:
        return _quantized(tensor, suffix)
    if tensor.layout is torch.sparse_coo:
        # Read so, a tensor that is not coalesced stays as it is.
        found = {"indices": tensor._indices(), "values": tensor._values()}
        return _named(found, suffix) + _shape(tensor, suffix)
    if tensor.layout in _COMPRESSED:
        found = {name: getattr(tensor, name)() for name in _COMPRESSED[tensor.layout]}
        return _named(found, suffix) + _shape(tensor, suffix)
    if tensor.layout is not torch.strided:
        return _pieces(tensor.detach().to_dense(), suffix)
    if tensor.is_cuda:
        return [Part(suffix, dense_layout(tensor), None, tensor)]
    return [Part(suffix, *dense_bytes(tensor), tensor)]


def _refuse_without_values(tensor: torch.Tensor) -> None:
    if is_lazy(tensor):
        raise Unsupported("a parameter of a lazy module that has no shape yet")
    if tensor.is_meta or isinstance(tensor, torch._subclasses.FakeTensor):
        raise Unsupported("a meta or fake tensor, which has no values")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise Unsupported("a tensor inside a functorch transform, whose values cannot be read")
    if torch._is_functional_tensor(tensor):
        raise Unsupported("a tensor under functionalization, whose values cannot be read")


def _subclass(tensor: Any, suffix: str) -> list[Part]:
    kind = type(tensor).__name__
    if tensor.is_nested and tensor.layout is torch.jagged:
        found = {"values": tensor.values(), "offsets": tensor.offsets()}
        return _named(found, suffix)
    if kind == "DTensor":
        return _pieces(tensor.to_local(), suffix)
    if kind == "AsyncCollectiveTensor":
        return _pieces(tensor.trigger_wait(), suffix)
    if _python_dispatch.is_traceable_wrapper_subclass(tensor):
        names, _ = tensor.__tensor_flatten__()
        return [
            part
            for name in names
            for part in _pieces(getattr(tensor, name), f"{suffix}#{name.lstrip('_')}")
        ]
    return _pieces(torch.Tensor.as_subclass(tensor, torch.Tensor), suffix)


def _named(pieces: dict[str, torch.Tensor], suffix: str) -> list[Part]:
    return [part for name, piece in pieces.items() for part in _pieces(piece, f"{suffix}#{name}")]


def _shape(tensor: torch.Tensor, suffix: str) -> list[Part]:
    # Indices and values alone do not tell how large the tensor is.
    return [_renamed(_array(np.asarray(tuple(tensor.shape), dtype=np.int64)), f"{suffix}#shape")]


def _quantized(tensor: torch.Tensor, suffix: str) -> list[Part]:
    found = _named({"int_repr": tensor.int_repr()}, suffix)
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        numbers = {"scale": tensor.q_scale(), "zero_point": tensor.q_zero_point()}
    else:
        scales = {
            "scale": tensor.q_per_channel_scales(),
            "zero_point": tensor.q_per_channel_zero_points(),
        }
        found += _named(scales, suffix)
        numbers = {"axis": tensor.q_per_channel_axis()}
    for name, number in numbers.items():
        found += [_renamed(part, f"{suffix}#{name}") for part in parts(number)]
    return found


def _renamed(part: Part, suffix: str) -> Part:
    return Part(suffix, part.layout, part.read)


def _array(value: Any) -> Part:
    if isinstance(value, np.ma.MaskedArray):
        raise Unsupported("a masked array; record its data and its mask")
    array = np.asarray(value)
    name = array.dtype.name
    if array.dtype.kind in "US":
        return _text("str", str(array.tolist()).encode("utf-8", "surrogatepass"))
    if name not in STORAGE_DTYPES or array.dtype.kind not in "biufc":
        raise Unsupported(f"a numpy array of {array.dtype}")
    layout = checked(Layout(name, tuple(array.shape)))
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return Part("", layout, little.reshape(-1).view(np.uint8) if little.size else EMPTY)


def _text(name: str, raw: bytes) -> Part:
    return Part("", Layout(name, (len(raw),)), np.frombuffer(raw, dtype=np.uint8))
