"""Single elements for a person: decimal that round-trips, bits in hex, and their surroundings."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import RAW_BIT_TYPES, Layout
from bisect_debugger.metrics.bits import Words, decode, is_float, part_type, place, words_of
from bisect_debugger.metrics.difference import Side


@dataclass(frozen=True, slots=True)
class ElementPair:
    """One element on both sides.

    Attributes:
        index: index per axis, empty for a scalar.
        a, b: the values.
        differs: their bits differ.
    """

    index: tuple[int, ...]
    a: Side
    b: Side
    differs: bool


def side_of(words: Words, dtype: str) -> Side:
    """One element as text; of a complex number both parts, the real one first.

    Args:
        words: (1, p) bits of the element.
        dtype: element type.
    """
    parts = words.reshape(-1)
    width = parts.dtype.itemsize * 2
    hexadecimal = "0x" + "_".join(f"{int(part):0{width}x}" for part in parts)
    texts = [_decimal(parts[i : i + 1], part_type(dtype)) for i in range(len(parts))]
    if len(texts) == 1:
        return Side(texts[0], hexadecimal)
    real, imaginary = texts
    sign = "" if imaginary.startswith("-") else "+"
    return Side(f"{real}{sign}{imaginary}j", hexadecimal)


def neighbourhood(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    layout: Layout,
    index: tuple[int, ...],
    radius: int,
) -> tuple[ElementPair, ...]:
    """Elements around a place, in row-major order, both sides.

    Args:
        a: first content in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape.
        index: index per axis of the middle, e.g. `Difference.first_index`.
        radius: elements on either side of it.

    Raises:
        ValueError: the index lies outside the shape, or the arrays do not fit the layout.
    """
    if len(index) != len(layout.shape):
        raise ValueError(f"index {index} has another number of axes than {layout.text}")
    middle = int(np.ravel_multi_index(index, layout.shape)) if index else 0
    lo = max(0, middle - radius)
    hi = min(layout.elements, middle + radius + 1)
    left, right = words_of(a, layout)[lo:hi], words_of(b, layout)[lo:hi]
    return tuple(
        ElementPair(
            place(lo + offset, layout.shape),
            side_of(left[offset], layout.dtype),
            side_of(right[offset], layout.dtype),
            not np.array_equal(left[offset], right[offset]),
        )
        for offset in range(hi - lo)
    )


def _decimal(word: npt.NDArray[Any], dtype: str) -> str:
    """The shortest decimal that reads back to the same bits in this very type, NaN aside."""
    stored = np.ascontiguousarray(word).view(Layout(dtype, ()).storage)
    if dtype == "bool":
        return str(bool(stored[0]))
    if not is_float(dtype):
        return str(int(stored[0]))
    value = float(decode(stored, dtype)[0])
    if dtype in RAW_BIT_TYPES:
        return repr(value)
    if value == 0 or 1e-4 <= abs(value) < 1e16 or not math.isfinite(value):
        return str(np.format_float_positional(stored[0], unique=True, trim="0"))
    return str(np.format_float_scientific(stored[0], unique=True, trim="-"))
