"""From a recorded value to dense parts: element type, shape and contiguous bytes.

A part's content may alias the live tensor's memory. It is valid only until the hook that
asked for it returns; hash it or copy it there. Nothing here draws from a generator, records
autograd history or raises a tensor's version.
"""

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout

MAX_DEPTH = 8
"""Deepest nesting of containers that is walked."""


class Unsupported(Exception):
    """A value that cannot be recorded; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A dense piece of a value.

    Attributes:
        suffix: what is appended to the buffer's name, empty for a dense value.
        layout: element type and shape.
        content: (nbytes,) uint8 array over the raw bytes, row-major.
    """

    suffix: str
    layout: Layout
    content: npt.NDArray[np.uint8]


_TORCH_NAMES: dict[torch.dtype, str] = {
    dtype: name
    for name in STORAGE_DTYPES
    if isinstance(dtype := getattr(torch, name, None), torch.dtype)
}

_EMPTY = np.empty(0, dtype=np.uint8)


@lru_cache(maxsize=4096)
def _layout(dtype: torch.dtype, shape: tuple[int, ...]) -> Layout:
    name = _TORCH_NAMES.get(dtype)
    if name is None:
        raise Unsupported(f"element type {dtype}")
    return Layout(name, shape)


def parts(value: object) -> list[Part]:
    """The dense parts of a value.

    Args:
        value: a tensor of any kind, a numpy array or scalar, a Python bool, int, float,
            complex, str or bytes.

    Raises:
        Unsupported: the value has no content that can be read here.
    """
    if isinstance(value, torch.Tensor):
        return _tensor_parts(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return [_array_part(np.asarray(value))]
    if isinstance(value, bool):
        return [_array_part(np.asarray(value, dtype=np.bool_))]
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return [_array_part(np.asarray(value, dtype=np.int64))]
        return [_text_part("str", str(value).encode())]
    if isinstance(value, (float, complex)):
        return [_array_part(np.asarray(value))]
    if isinstance(value, str):
        return [_text_part("str", value.encode("utf-8", "surrogatepass"))]
    if isinstance(value, (bytes, bytearray)):
        return [_text_part("bytes", bytes(value))]
    raise Unsupported(f"a value of type {type(value).__name__}")


def leaves(value: object) -> Iterator[tuple[str, object]]:
    """Walk a nest of containers in a stable order.

    Yields:
        (path, leaf): path is empty for a bare value, else like ``[0]`` or ``.logits``.
        None and empty containers yield nothing.
    """
    return _leaves(value, "", 0)


def _leaves(value: object, path: str, depth: int) -> Iterator[tuple[str, object]]:
    if value is None:
        return
    if isinstance(value, torch.Tensor) or depth >= MAX_DEPTH:
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name in value._fields:
            yield from _leaves(getattr(value, name), f"{path}.{name}", depth + 1)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]", depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for entry in fields(value):
            yield from _leaves(getattr(value, entry.name, None), f"{path}.{entry.name}", depth + 1)
    else:
        yield path, value


def _tensor_parts(tensor: torch.Tensor) -> list[Part]:
    tensor = tensor.detach()
    local = getattr(tensor, "to_local", None)
    if local is not None and type(tensor).__name__ == "DTensor":
        tensor = local().detach()
    if tensor.is_meta or isinstance(tensor, torch._subclasses.FakeTensor):
        raise Unsupported("a meta or fake tensor, which has no values")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise Unsupported("a tensor inside a functorch transform, whose values are not readable")
    if tensor.is_nested:
        return _split(tensor, "#values", "#offsets")
    if tensor.layout is torch.sparse_coo:
        # Reading through _indices keeps an uncoalesced tensor as it is.
        return _named({"#indices": tensor._indices(), "#values": tensor._values()})
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return _named(
            {
                "#crow_indices": tensor.crow_indices(),
                "#col_indices": tensor.col_indices(),
                "#values": tensor.values(),
            }
        )
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return _named(
            {
                "#ccol_indices": tensor.ccol_indices(),
                "#row_indices": tensor.row_indices(),
                "#values": tensor.values(),
            }
        )
    if tensor.is_quantized:
        return _quantized(tensor)
    if tensor.layout is not torch.strided:
        raise Unsupported(f"a tensor of layout {tensor.layout}")
    return [_dense(tensor, "")]


def _split(tensor: Any, values: str, offsets: str) -> list[Part]:
    if tensor.layout is torch.jagged:
        return _named({values: tensor.values(), offsets: tensor.offsets()})
    return _named({f"{values}[{i}]": piece for i, piece in enumerate(tensor.unbind())})


def _named(pieces: dict[str, torch.Tensor]) -> list[Part]:
    return [_dense(piece.detach(), suffix) for suffix, piece in pieces.items()]


def _quantized(tensor: torch.Tensor) -> list[Part]:
    pieces = {"#int_repr": tensor.int_repr()}
    if tensor.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric):
        pieces["#scale"] = tensor.q_per_channel_scales()
        pieces["#zero_point"] = tensor.q_per_channel_zero_points()
        return _named(pieces)
    scalars = {"#scale": tensor.q_scale(), "#zero_point": tensor.q_zero_point()}
    return _named(pieces) + [
        Part(suffix, part.layout, part.content)
        for suffix, value in scalars.items()
        for part in parts(value)
    ]


def _dense(tensor: torch.Tensor, suffix: str) -> Part:
    layout = _layout(tensor.dtype, tuple(tensor.shape))
    return Part(suffix, layout, _bytes_of(tensor))


def dense_bytes(tensor: torch.Tensor) -> tuple[Layout, npt.NDArray[np.uint8]]:
    """Layout and bytes of a plain strided tensor: the fast path of `parts`."""
    return _layout(tensor.dtype, tuple(tensor.shape)), _bytes_of(tensor)


def _bytes_of(tensor: torch.Tensor) -> npt.NDArray[np.uint8]:
    if tensor.numel() == 0:
        return _EMPTY
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg().contiguous()
    # Reading through the address calls no operator: no dispatch mode, no autocast sees it. The
    # array keeps the tensor alive through its base.
    raw: Any = (ctypes.c_ubyte * (tensor.numel() * tensor.element_size())).from_address(
        tensor.data_ptr()
    )
    raw._tensor = tensor
    return np.frombuffer(raw, dtype=np.uint8)


def is_plain(tensor: torch.Tensor) -> bool:
    """The tensor is dense, strided, on the CPU and of torch's own class."""
    kind = type(tensor)
    return (
        (kind is torch.Tensor or kind is torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not tensor.is_quantized
        and not tensor.is_nested
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def _array_part(array: npt.NDArray[Any]) -> Part:
    name = array.dtype.name
    if array.dtype.kind in "US":
        return _text_part("str", str(array.tolist()).encode())
    if name not in STORAGE_DTYPES or array.dtype.kind not in "biufc":
        raise Unsupported(f"a numpy array of {array.dtype}")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    content = little.reshape(-1).view(np.uint8) if little.size else _EMPTY
    return Part("", Layout(name, tuple(array.shape)), content)


def _text_part(name: str, raw: bytes) -> Part:
    return Part("", Layout(name, (len(raw),)), np.frombuffer(raw, dtype=np.uint8))
