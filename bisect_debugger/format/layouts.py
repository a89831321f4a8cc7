"""Layouts: an element type and a shape, and how the elements are stored.

numpy has no bfloat16 or float8, so such elements are stored as raw bits and read back
either as bits (bit-exact comparison) or as float64 values (`to_float64`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

STORAGE_DTYPES: dict[str, str] = {
    "float64": "<f8",
    "float32": "<f4",
    "float16": "<f2",
    "bfloat16": "<u2",
    "float8_e4m3fn": "u1",
    "float8_e4m3fnuz": "u1",
    "float8_e5m2": "u1",
    "float8_e5m2fnuz": "u1",
    "float8_e8m0fnu": "u1",
    "complex32": "<u4",
    "complex64": "<c8",
    "complex128": "<c16",
    "int8": "i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "bool": "u1",
    "str": "u1",
    "bytes": "u1",
}
"""Element type name -> numpy dtype of its stored form, little-endian. ``str`` is UTF-8."""

RAW_BIT_TYPES = frozenset(
    name for name in STORAGE_DTYPES if name.startswith(("bfloat", "float8", "complex32"))
)
"""Element types stored as bits because numpy cannot hold them."""


@dataclass(frozen=True)
class Layout:
    """An element type and a shape. Two events are only comparable element by element in one layout.

    Attributes:
        dtype: a key of `STORAGE_DTYPES`.
        shape: the extent of each axis; ``()`` is a scalar.
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def text(self) -> str:
        """Canonical form, e.g. ``float32[2,3]``; the digest seed is computed from it."""
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @cached_property
    def seed(self) -> int:
        """64-bit seed that folds dtype and shape into the content digest."""
        return xxhash.xxh3_64_intdigest(self.text.encode())

    @property
    def storage(self) -> np.dtype[Any]:
        """The numpy dtype of the stored elements."""
        return np.dtype(STORAGE_DTYPES[self.dtype])

    @property
    def elements(self) -> int:
        """Number of elements, 1 for a scalar, 0 where any axis is empty."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of content."""
        return self.elements * self.storage.itemsize

    @classmethod
    def parse(cls, dtype: str, shape: str) -> "Layout":
        """Build from the two text columns of the layouts table.

        Raises:
            ValueError: the element type is unknown, or the shape is not comma-separated
                non-negative integers.
        """
        if dtype not in STORAGE_DTYPES:
            raise ValueError(f"unknown element type {dtype!r}")
        extents = tuple(int(part) for part in shape.split(",")) if shape else ()
        if any(extent < 0 for extent in extents):
            raise ValueError(f"negative extent in shape {shape!r}")
        return cls(dtype, extents)


def to_float64(stored: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Stored elements as numbers: float64, or complex128 for complex types.

    Integers above 2**53 lose low bits here, so equality is always judged on the stored
    form and never on this one.

    Args:
        stored: elements in the storage dtype of ``dtype``, any shape.
        dtype: a key of `STORAGE_DTYPES`.
    """
    decode = _DECODERS.get(dtype)
    # Widening a signalling NaN makes it quiet, which numpy would warn of.
    with np.errstate(invalid="ignore", over="ignore"):
        if decode is not None:
            return decode(stored)
        if dtype.startswith("complex"):
            return stored.astype(np.complex128)
        return stored.astype(np.float64)


def _bfloat16(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _complex32(bits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    pairs = np.ascontiguousarray(bits).reshape(*bits.shape, 1).view(np.float16)
    result = np.empty(bits.shape, dtype=np.complex128)
    # Assigned apart: a product with 1j would turn the real part beside an Inf into NaN.
    result.real = pairs[..., 0]
    result.imag = pairs[..., 1]
    return result


def _float8_table(exponent_bits: int, bias: int, special: str) -> npt.NDArray[np.float64]:
    """All 256 values of a float8 type.

    Source of the encodings: "FP8 Formats for Deep Learning" (arXiv:2209.05433) for e4m3fn
    and e5m2, arXiv:2206.02915 for the fnuz forms, OCP MX v1.0 for e8m0.
    """
    mantissa_bits = 7 - exponent_bits
    table = np.empty(256, dtype=np.float64)
    top = (1 << exponent_bits) - 1
    for code in range(256):
        sign = -1.0 if code & 0x80 else 1.0
        exponent = (code >> mantissa_bits) & top
        mantissa = code & ((1 << mantissa_bits) - 1)
        fraction = mantissa / (1 << mantissa_bits)
        if exponent == 0:
            value = sign * fraction * 2.0 ** (1 - bias)
        else:
            value = sign * (1 + fraction) * 2.0 ** (exponent - bias)
        if (special == "fn" and (code & 0x7F) == 0x7F) or (special == "fnuz" and code == 0x80):
            value = np.nan
        elif special == "ieee" and exponent == top:
            value = sign * np.inf if mantissa == 0 else np.nan
        table[code] = value
    return table


def _float8(exponent_bits: int, bias: int, special: str) -> Callable[..., npt.NDArray[Any]]:
    table = _float8_table(exponent_bits, bias, special)
    return lambda codes: table[codes]


def _e8m0(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values = 2.0 ** (codes.astype(np.float64) - 127.0)
    return np.where(codes == 255, np.nan, values)


_DECODERS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]] = {
    "bfloat16": _bfloat16,
    "complex32": _complex32,
    "float8_e4m3fn": _float8(4, 7, "fn"),
    "float8_e4m3fnuz": _float8(4, 8, "fnuz"),
    "float8_e5m2": _float8(5, 15, "ieee"),
    "float8_e5m2fnuz": _float8(5, 16, "fnuz"),
    "float8_e8m0fnu": _e8m0,
}
