"""Reading .pt, .pth and .bin through torch, which is imported here and only then.

Only ``weights_only=True``: torch's restricted unpickler, which builds tensors and plain
containers and runs no code from the file.
"""

import re
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.checkpoints.flatten import Leaf, TooNested, is_numeric, leaves
from bisect_debugger.checkpoints.model import (
    Checkpoint,
    LeftOut,
    NamedTensor,
    UnreadableCheckpoint,
)
from bisect_debugger.errors import printable
from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout

if TYPE_CHECKING:
    from torch import Tensor

_REPEATED_BYTES = 1 << 28
"""An expanded tensor (one element stored, many claimed) is laid out up to this many bytes."""

_REFUSED_NAME = re.compile(r"GLOBAL (\S+)")


def read_torch(path: Path) -> Checkpoint:
    """Names and layouts of what `torch.save` wrote; elements stay on disk where torch can map.

    Python numbers count as scalar tensors; text, None and the like are left out.

    Raises:
        UnreadableCheckpoint: torch is not installed, the file is damaged or no torch file,
            would have to be unpickled in full, or two records share a name.
    """
    loaded = _load(path)
    tensors: list[NamedTensor] = []
    left_out: list[LeftOut] = []
    try:
        for leaf in leaves(loaded):
            for found in _named(leaf):
                if isinstance(found, LeftOut):
                    left_out.append(found)
                else:
                    tensors.append(found)
    except TooNested as error:
        raise UnreadableCheckpoint(
            path,
            "its containers hold themselves, or are nested deeper or wider than any checkpoint's",
            "save plain state dicts",
        ) from error
    return Checkpoint(path, tuple(tensors), tuple(left_out))


def _load(path: Path) -> Any:
    archive = _is_archive(path)
    try:
        import torch
    except ImportError as error:
        raise UnreadableCheckpoint(
            path,
            "a torch checkpoint is read with torch, which is not installed here",
            "install torch, or save the tensors as .safetensors or .npz",
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=archive)
    except Exception as error:
        # torch raises whatever a damaged file leads its reader to.
        raise _not_loaded(path, error) from error


def _is_archive(path: Path) -> bool:
    """A zip archive, or else a bare pickle stream; told as torch tells it, without torch.

    Raises:
        UnreadableCheckpoint: it begins like neither.
    """
    with path.open("rb") as stream:
        head = stream.read(4)
    if head == b"PK\x03\x04":
        return True
    if not head.startswith(b"\x80"):
        raise UnreadableCheckpoint(
            path, "this is not a file that torch.save wrote", "name a checkpoint"
        )
    return False


def _not_loaded(path: Path, error: Exception) -> UnreadableCheckpoint:
    text = str(error)
    if "TorchScript" in text:
        return UnreadableCheckpoint(
            path,
            "this is a TorchScript archive, which holds a program and not a state dict",
            "save its state_dict() with torch.save",
        )
    refused = _REFUSED_NAME.search(text)
    if refused is not None:
        return UnreadableCheckpoint(
            path,
            f"it holds a pickled {printable(refused.group(1), 80)}, and loading that could run "
            "code from the file, so torch's weights_only refuses it",
            "save plain tensors and numbers, e.g. model.state_dict()",
        )
    if "zip archive" in text:
        return UnreadableCheckpoint(
            path, "the archive is cut short or damaged", "save the checkpoint again"
        )
    reason = printable(text.partition("\n")[0] or type(error).__name__, 120)
    return UnreadableCheckpoint(
        path, f"torch cannot load it ({reason})", "save the checkpoint again"
    )


def _named(leaf: Leaf) -> Iterator[NamedTensor | LeftOut]:
    import torch

    if isinstance(leaf.value, torch.Tensor):
        yield from _tensor(leaf, leaf.value)
    elif is_numeric(leaf.value):
        yield _numbers(leaf)
    else:
        yield LeftOut(leaf.name, f"is no tensor but {type(leaf.value).__name__}")


def _numbers(leaf: Leaf) -> NamedTensor | LeftOut:
    """A Python number as a scalar, a list of them as a vector."""
    value = leaf.value
    first = value[0] if isinstance(value, (list, tuple)) else value
    if isinstance(first, bool):
        dtype = "bool"
    elif isinstance(first, int):
        numbers = value if isinstance(value, (list, tuple)) else (value,)
        if min(numbers) >= -(2**63) and max(numbers) < 2**63:
            dtype = "int64"
        elif min(numbers) >= 0 and max(numbers) < 2**64:
            dtype = "uint64"
        else:
            return LeftOut(leaf.name, "holds integers of more than 64 bits")
    else:
        dtype = "complex128" if isinstance(first, complex) else "float64"
    stored = np.asarray(value, dtype=STORAGE_DTYPES[dtype])
    return NamedTensor(leaf.name, leaf.part, Layout(dtype, stored.shape), lambda: stored)


def _tensor(leaf: Leaf, tensor: "Tensor") -> Iterator[NamedTensor | LeftOut]:
    if tensor.is_meta or tensor.is_nested:
        yield LeftOut(leaf.name, "is a tensor without elements of its own (meta or nested)")
        return
    if _repeats(tensor):
        yield LeftOut(leaf.name, "repeats few stored elements over an enormous shape")
        return
    for suffix, dense in _dense(tensor):
        name = leaf.name + suffix
        layout = Layout(str(dense.dtype).removeprefix("torch."), tuple(dense.shape))
        if layout.dtype not in STORAGE_DTYPES:
            yield LeftOut(name, f"element type {layout.dtype} is not known")
        elif _repeats(dense):
            yield LeftOut(name, "repeats few stored elements over an enormous shape")
        else:
            yield NamedTensor(name, leaf.part, layout, partial(_elements, dense, layout))


def _repeats(tensor: "Tensor") -> bool:
    """It is expanded to a size that laying it out would not survive."""
    import torch

    if tensor.layout is not torch.strided:
        return False
    claimed = tensor.numel() * tensor.element_size()
    return claimed > max(_REPEATED_BYTES, tensor.untyped_storage().nbytes())


def _dense(tensor: "Tensor") -> Iterator[tuple[str, "Tensor"]]:
    """A tensor as dense ones: itself, or the components of a sparse or quantised one."""
    import torch

    if tensor.is_quantized:
        yield "#int_repr", tensor.int_repr()
        if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            yield "#scale", torch.tensor(tensor.q_scale(), dtype=torch.float64)
            yield "#zero_point", torch.tensor(tensor.q_zero_point())
        else:
            yield "#scale", tensor.q_per_channel_scales()
            yield "#zero_point", tensor.q_per_channel_zero_points()
        return
    if tensor.layout is torch.strided:
        yield "", tensor
        return
    yield "#size", torch.tensor(tensor.shape, dtype=torch.int64)
    if tensor.layout is torch.sparse_coo:
        yield "#indices", tensor._indices()
        yield "#values", tensor._values()
        return
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield "#crow_indices", tensor.crow_indices()
        yield "#col_indices", tensor.col_indices()
    else:
        yield "#ccol_indices", tensor.ccol_indices()
        yield "#row_indices", tensor.row_indices()
    yield "#values", tensor.values()


def _elements(tensor: "Tensor", layout: Layout) -> npt.NDArray[Any]:
    import torch

    if not layout.elements:
        return np.empty(layout.shape, dtype=layout.storage)
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    if flat.stride(0) != 1:
        # One element of any stride passes for contiguous, and not for a view as bytes.
        flat = torch.empty(flat.shape, dtype=flat.dtype).copy_(flat)
    raw = flat.view(torch.uint8).numpy()
    stored: npt.NDArray[Any] = raw.view(layout.storage).reshape(layout.shape)
    return stored
