"""Single elements for a person: decimal that round-trips, bits in hex, and their surroundings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.layouts import RAW_BIT_TYPES, Layout, to_float64
from bisect_debugger.metrics.difference import Side


@dataclass(frozen=True, slots=True)
class ElementPair:
    """One element on both sides."""

    index: tuple[int, ...]
    a: Side
    b: Side
    differs: bool


def side_of(bits: npt.NDArray[Any], dtype: str) -> Side:
    """One element as text.

    Args:
        bits: the element's bits, an unsigned array of length 1, or (1, 2) for complex128.
        dtype: element type.
    """
    words = bits.reshape(-1)
    width = words.dtype.itemsize * 2
    # The second word of a complex number is its imaginary part: written after the first.
    hexadecimal = "0x" + "_".join(f"{int(word):0{width}x}" for word in words)
    return Side(_decimal(bits, dtype), hexadecimal)


def neighbourhood(
    a: npt.NDArray[Any], b: npt.NDArray[Any], layout: Layout, flat_index: int, radius: int
) -> tuple[ElementPair, ...]:
    """Elements around a place, in row-major order, both sides.

    Args:
        a: first content in the layout's storage dtype and shape.
        b: second content.
        layout: element type and shape.
        flat_index: row-major index of the middle.
        radius: elements on either side of it.
    """
    lo = max(0, flat_index - radius)
    hi = min(layout.elements, flat_index + radius + 1)
    left, right = _bits(a, layout)[lo:hi], _bits(b, layout)[lo:hi]
    pairs = []
    for offset in range(hi - lo):
        one, other = left[offset : offset + 1], right[offset : offset + 1]
        index = np.unravel_index(lo + offset, layout.shape) if layout.shape else ()
        pairs.append(
            ElementPair(
                tuple(int(axis) for axis in index),
                side_of(one, layout.dtype),
                side_of(other, layout.dtype),
                one.tobytes() != other.tobytes(),
            )
        )
    return tuple(pairs)


def _bits(values: npt.NDArray[Any], layout: Layout) -> npt.NDArray[Any]:
    flat = np.ascontiguousarray(values, dtype=layout.storage).reshape(-1)
    if layout.storage.itemsize == 16:
        pairs: npt.NDArray[Any] = flat.view("<u8").reshape(-1, 2)
        return pairs
    return flat.view(f"<u{layout.storage.itemsize}")


def _decimal(bits: npt.NDArray[Any], dtype: str) -> str:
    storage = Layout(dtype, (1,)).storage
    stored = np.ascontiguousarray(bits).reshape(-1).view(storage)
    if dtype == "bool":
        return str(bool(stored[0]))
    if dtype in RAW_BIT_TYPES:
        return repr(to_float64(stored, dtype)[0].item())
    if stored.dtype.kind == "f":
        # The shortest decimal that reads back to the same bits in this very type.
        return str(np.format_float_scientific(stored[0], unique=True, trim="0"))
    return str(stored[0].item())
