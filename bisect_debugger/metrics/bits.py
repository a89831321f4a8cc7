"""Contents as words of bits: what equality is judged on, and what numbers are decoded from.

A complex element is two words, its real and its imaginary part, so that everything said about
floats holds for its parts.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import Layout, to_float64

Words = npt.NDArray[Any]
"""(n, p) unsigned integers: p = 2 for complex elements (real, imaginary), else 1."""

_PART_TYPES = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_NOT_NUMBERS = frozenset({"str", "bytes"})


def part_type(dtype: str) -> str:
    """Element type of one word: the float type of a complex type's parts, else the type."""
    return _PART_TYPES.get(dtype, dtype)


def is_number(dtype: str) -> bool:
    """The elements are numbers, and not bytes of a text or of an opaque state."""
    return dtype not in _NOT_NUMBERS


def is_float(dtype: str) -> bool:
    """The elements are floats or complex numbers."""
    return "float" in dtype or dtype in _PART_TYPES


def is_count(dtype: str) -> bool:
    """The elements are integers or truth values, whose bits say no more than their digits."""
    return is_number(dtype) and not is_float(dtype)


def words_of(values: npt.NDArray[Any], layout: Layout) -> Words:
    """The bits of a content, one row an element; a view where the content is contiguous.

    Args:
        values: elements in the layout's storage dtype and shape.
        layout: element type and shape.

    Raises:
        ValueError: the array has another dtype or shape than the layout says.
    """
    if values.dtype != layout.storage or values.shape != layout.shape:
        raise ValueError(
            f"{layout.text} is stored as {layout.storage} of shape {layout.shape}, and this "
            f"array is {values.dtype} of shape {values.shape}"
        )
    parts = 2 if layout.dtype in _PART_TYPES else 1
    flat = np.ascontiguousarray(values).reshape(-1)
    words: Words = flat.view(f"<u{layout.storage.itemsize // parts}").reshape(-1, parts)
    return words


def any_part(marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(n,) whether a mark is set for any part of an element, from (n, p) marks."""
    return marks[:, 0] if marks.shape[1] == 1 else marks[:, 0] | marks[:, 1]


def unequal(a: Words, b: Words) -> npt.NDArray[np.bool_]:
    """(n,) whether the bits of each element differ."""
    return any_part(np.not_equal(a, b))


def decode(words: Words, dtype: str) -> npt.NDArray[np.float64]:
    """The words as numbers, the same shape. Integers above 2**53 are rounded.

    A signalling NaN among them makes numpy warn; that it is one is a finding, not a warning.
    """
    part = part_type(dtype)
    stored = np.ascontiguousarray(words).view(Layout(part, ()).storage)
    with np.errstate(all="ignore"):
        return to_float64(stored, part)


def place(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Index per axis of a row-major position; empty for a scalar."""
    return tuple(int(axis) for axis in np.unravel_index(flat, shape)) if shape else ()
