"""A digest sees layout and bits, whatever way the elements lie in memory."""

from typing import Any

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.layouts import Layout
from probes.content import parts

DTYPES = [
    torch.float64,
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.float8_e5m2,
    torch.complex64,
    torch.int64,
    torch.int8,
    torch.uint16,
    torch.bool,
]


def digest(value: object) -> bytes:
    (part,) = parts(value)
    return content_digest(part.content, part.layout)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """A tensor of any bits, then bent: sliced, permuted, expanded, shifted in its storage."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    dtype = draw(st.sampled_from(DTYPES))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    tensor = torch.tensor(list(raw), dtype=torch.uint8)
    if dtype is torch.bool:
        tensor = tensor % 2
    tensor = tensor.view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)
    if tensor.ndim:
        tensor = tensor.permute(*draw(st.permutations(range(tensor.ndim))))
        axis = draw(st.integers(0, tensor.ndim - 1))
        start = draw(st.integers(0, tensor.shape[axis]))
        tensor = tensor.narrow(axis, start, tensor.shape[axis] - start)
        tensor = tensor[(slice(None),) * axis + (slice(None, None, draw(st.integers(1, 3))),)]
    if draw(st.booleans()):
        tensor = tensor.unsqueeze(0).expand(draw(st.integers(0, 3)), *tensor.shape)
    if tensor.ndim == 4 and draw(st.booleans()):
        tensor = tensor.contiguous(memory_format=torch.channels_last)
    return tensor


@given(tensors())
def test_equals_that_of_the_row_major_copy(tensor: torch.Tensor) -> None:
    version = tensor._version
    copy = tensor.clone(memory_format=torch.contiguous_format)
    assert digest(tensor) == digest(copy) == digest(torch.nn.Parameter(copy, requires_grad=False))
    assert tensor._version == version


@given(tensors())
def test_equals_what_numpy_makes_of_it(tensor: torch.Tensor) -> None:
    (part,) = parts(tensor)
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    same_bits: Any = tensor.contiguous().view(bits[tensor.element_size()]).numpy()
    assert bytes(part.content) == same_bits.tobytes()
    assert part.layout.shape == tuple(tensor.shape)
    assert part.layout.nbytes == len(part.content)


@given(tensors(), st.data())
def test_any_flipped_bit_shows(tensor: torch.Tensor, data: st.DataObject) -> None:
    (part,) = parts(tensor)
    if not len(part.content):
        return
    flipped = part.content.copy()
    place = data.draw(st.integers(0, len(flipped) - 1))
    flipped[place] ^= 1 << data.draw(st.integers(0, 7))
    assert content_digest(flipped, part.layout) != content_digest(part.content, part.layout)


@given(st.binary(min_size=8, max_size=8))
def test_type_and_shape_show(raw: bytes) -> None:
    layouts = [
        Layout("float64", ()),
        Layout("float64", (1,)),
        Layout("float64", (1, 1)),
        Layout("int64", ()),
        Layout("float32", (2,)),
        Layout("bfloat16", (4,)),
        Layout("bfloat16", (2, 2)),
        Layout("bytes", (8,)),
    ]
    assert len({content_digest(raw, layout) for layout in layouts}) == len(layouts)


@given(tensors())
def test_numpy_and_torch_agree(tensor: torch.Tensor) -> None:
    if tensor.dtype in (torch.bfloat16, torch.float8_e5m2):
        return
    assert digest(tensor) == digest(tensor.numpy())
