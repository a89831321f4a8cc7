"""The bytes of a dense tensor, where they lie: no copy, no operator, no autograd history.

Bytes are read through the address, so no dispatch mode, autocast or tracer sees it, a
tensor's version stays, and no generator is touched. Only a tensor that is not contiguous, or
not in host memory, is copied first, out of sight of modes and autograd.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils import _python_dispatch

from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout
from bisect_debugger.format.schema import LAYOUTS


class Unsupported(Exception):
    """A value that cannot be recorded; the message says what it is."""


EMPTY = np.empty(0, dtype=np.uint8)

_TORCH_NAMES: dict[torch.dtype, str] = {
    dtype: name
    for name in STORAGE_DTYPES
    if isinstance(dtype := getattr(torch, name, None), torch.dtype)
}

_SHAPE_BYTES = np.dtype(LAYOUTS[1].dtype).itemsize

_NO_MEMORY = "a tensor whose memory was freed, or that has none of its own"

_PLAIN_CLASSES = (torch.Tensor, torch.nn.Parameter)


def is_plain(tensor: torch.Tensor) -> bool:
    """The tensor is dense, strided, on the CPU and of torch's own class."""
    return (
        type(tensor) in _PLAIN_CLASSES
        and tensor.layout is torch.strided
        and tensor.is_cpu
        and not tensor.is_quantized
        and not tensor.is_nested
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def dense_bytes(tensor: torch.Tensor) -> tuple[Layout, npt.NDArray[np.uint8]]:
    """Layout and bytes of a dense, strided tensor.

    Args:
        tensor: a tensor of torch's own class.

    Returns:
        The layout, and the content in row-major order as (nbytes,) uint8. It may alias the
        tensor's memory, which it keeps alive but does not keep from being written.

    Raises:
        Unsupported: the element type has no place in the format, or the memory is gone.
    """
    return _layout(tensor.dtype, tensor.shape), _bytes_of(tensor)


def dense_layout(tensor: torch.Tensor) -> Layout:
    """Layout of a dense, strided tensor on a device, whose bytes stay where they are.

    Raises:
        Unsupported: the element type has no place in the format, or the memory is gone.
    """
    layout = _layout(tensor.dtype, tensor.shape)
    if tensor.nbytes:
        _refuse_unreadable(tensor)
    return layout


def checked(layout: Layout) -> Layout:
    """The layout, if the file can hold its shape.

    Raises:
        Unsupported: the shape has too many axes.
    """
    if len(",".join(map(str, layout.shape))) > _SHAPE_BYTES:
        raise Unsupported(f"a shape with {len(layout.shape)} axes")
    return layout


@contextmanager
def unseen() -> Iterator[None]:
    """Let operators run without autograd, and without any mode or subclass that watches them."""
    with (
        torch.no_grad(),
        torch._C.DisableTorchFunction(),
        _python_dispatch._disable_current_modes(),
    ):
        yield


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


@lru_cache(maxsize=4096)
def _layout(dtype: torch.dtype, shape: torch.Size) -> Layout:
    name = _TORCH_NAMES.get(dtype)
    if name is None:
        raise Unsupported(f"element type {dtype}")
    return checked(Layout(name, tuple(shape)))


def _bytes_of(tensor: torch.Tensor) -> npt.NDArray[np.uint8]:
    size = tensor.nbytes
    if not size:
        return EMPTY
    if not (tensor.is_contiguous() and tensor.is_cpu) or tensor.is_conj() or tensor.is_neg():
        tensor = _contiguous_on_host(tensor)
    address = tensor.data_ptr()
    # Sharded training frees the storage of a parameter and leaves the tensor.
    if not address or reach(tensor) > tensor.untyped_storage().nbytes():
        raise Unsupported(_NO_MEMORY)
    raw: Any = (ctypes.c_ubyte * size).from_address(address)
    # The array's base is `raw`, which has to keep the memory alive.
    raw.tensor = tensor
    return np.frombuffer(raw, dtype=np.uint8)


def _contiguous_on_host(tensor: torch.Tensor) -> torch.Tensor:
    _refuse_unreadable(tensor)
    if tensor.is_cpu and not tensor.is_conj() and not tensor.is_neg():
        return compact(tensor)
    with unseen():
        return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()


def _refuse_unreadable(tensor: torch.Tensor) -> None:
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
        raise Unsupported("a tensor inside the capture of a CUDA graph")
    if not tensor.data_ptr() or reach(tensor) > tensor.untyped_storage().nbytes():
        raise Unsupported(_NO_MEMORY)


def reach(tensor: torch.Tensor) -> int:
    """Bytes of its storage that the tensor needs, from the storage's beginning."""
    if tensor.is_contiguous():
        last = tensor.numel()
    else:
        strides = zip(tensor.shape, tensor.stride(), strict=True)
        last = 1 + sum((extent - 1) * stride for extent, stride in strides)
    return (int(tensor.storage_offset()) + last) * tensor.element_size()
