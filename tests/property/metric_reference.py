"""The definition of every number of a difference, one element at a time, in exact arithmetic.

Nothing here shares code with what it checks: elements are decoded from their bits by the
definition of the format, and sums are fractions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from bisect_debugger.format.layouts import STORAGE_DTYPES, Layout

Number = Fraction | float
"""An exact finite value, or a float NaN or Inf."""


@dataclass(frozen=True)
class FloatFormat:
    """Widths of a float type, and which codes are not numbers."""

    bits: int
    exponent: int
    special: str = "ieee"

    @property
    def mantissa(self) -> int:
        return self.bits - 1 - self.exponent


FLOATS = {
    "float64": FloatFormat(64, 11),
    "float32": FloatFormat(32, 8),
    "float16": FloatFormat(16, 5),
    "bfloat16": FloatFormat(16, 8),
    "float8_e5m2": FloatFormat(8, 5),
    "float8_e4m3fn": FloatFormat(8, 4, "fn"),
    "float8_e4m3fnuz": FloatFormat(8, 4, "fnuz"),
    "float8_e5m2fnuz": FloatFormat(8, 5, "fnuz"),
}
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
DENORMALS_COUNT = {"bfloat16", "float32", "float64"}


def value_of(code: int, dtype: str) -> Number:
    """One real element from its bits."""
    if dtype == "float8_e8m0fnu":
        return math.nan if code == 255 else Fraction(2) ** (code - 127)
    if dtype not in FLOATS:
        width = np.dtype(STORAGE_DTYPES[dtype]).itemsize * 8
        negative = dtype.startswith("int") and code >> (width - 1)
        return Fraction(code - (1 << width) if negative else code)
    form = FLOATS[dtype]
    magnitude = code & ((1 << (form.bits - 1)) - 1)
    sign = -1 if code >> (form.bits - 1) else 1
    exponent, fraction = divmod(magnitude, 1 << form.mantissa)
    top = (1 << form.exponent) - 1
    bias = (1 << (form.exponent - 1)) - (0 if form.special == "fnuz" else 1)
    if form.special == "ieee" and exponent == top:
        return math.nan if fraction else sign * math.inf
    if form.special == "fn" and magnitude == (1 << (form.bits - 1)) - 1:
        return math.nan
    if form.special == "fnuz" and code == 1 << (form.bits - 1):
        return math.nan
    leading = 0 if exponent == 0 else 1 << form.mantissa
    power = max(exponent, 1) - bias - form.mantissa
    return sign * (leading + fraction) * Fraction(2) ** power


def codes_of(values: npt.NDArray[Any], layout: Layout) -> list[tuple[int, ...]]:
    """The bits of every element in row-major order, one integer per part."""
    size = layout.storage.itemsize
    raw = values.tobytes()
    parts = 2 if layout.dtype in PARTS else 1
    width = size // parts
    return [
        tuple(
            int.from_bytes(raw[at + part * width : at + (part + 1) * width], "little")
            for part in range(parts)
        )
        for at in range(0, len(raw), size)
    ]


def numbers_of(codes: list[tuple[int, ...]], dtype: str) -> list[tuple[Number, ...]]:
    part = PARTS.get(dtype, dtype)
    return [tuple(value_of(code, part) for code in element) for element in codes]


def is_finite(element: tuple[Number, ...]) -> bool:
    return all(isinstance(part, Fraction) for part in element)


def has_nan(element: tuple[Number, ...]) -> bool:
    return any(isinstance(part, float) and math.isnan(part) for part in element)


def has_inf(element: tuple[Number, ...]) -> bool:
    return any(isinstance(part, float) and math.isinf(part) for part in element)


def exact(element: tuple[Number, ...]) -> tuple[Fraction, ...]:
    return tuple(part for part in element if isinstance(part, Fraction))


def square(element: tuple[Fraction, ...]) -> Fraction:
    return sum((part * part for part in element), Fraction(0))


def minus(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def root(square_of_it: Fraction) -> float:
    """Square root as a float, inf where it is past float64."""
    if square_of_it == 0:
        return 0.0
    # Scaled so that the integer root has at least 100 correct bits.
    shift = 2 * max(0, 200 - square_of_it.numerator.bit_length() // 2)
    shift += 2 * square_of_it.denominator.bit_length()
    whole = math.isqrt((square_of_it.numerator << shift) // square_of_it.denominator)
    return to_float(Fraction(whole, 1 << (shift // 2)))


def to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def steps_apart(a: int, b: int, dtype: str) -> int:
    """ULP distance: how many representable numbers one steps over from one to the other."""

    def rank(code: int) -> int:
        if dtype == "float8_e8m0fnu":
            return code
        bits = FLOATS[dtype].bits
        magnitude = code & ((1 << (bits - 1)) - 1)
        return -magnitude if code >> (bits - 1) else magnitude

    return abs(rank(a) - rank(b))


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every index in row-major order."""
    return list(product(*(range(extent) for extent in shape)))


def rows_of(elements: list[Any], layout: Layout) -> Iterator[list[Any]]:
    width = layout.shape[-1]
    for lo in range(0, len(elements), width or 1):
        yield elements[lo : lo + width]


def cosine_sign_and_square(
    x: list[tuple[Fraction, ...]], y: list[tuple[Fraction, ...]]
) -> tuple[int, Fraction] | None:
    """Sign of the cosine and its square, exactly; None where a row is all zero."""
    dot = sum(
        (p * q for a, b in zip(x, y, strict=True) for p, q in zip(a, b, strict=True)), Fraction(0)
    )
    xx = sum((square(a) for a in x), Fraction(0))
    yy = sum((square(b) for b in y), Fraction(0))
    if not xx or not yy:
        return None
    return (dot > 0) - (dot < 0), dot * dot / (xx * yy)


SHAPES = st.one_of(
    st.just(()),
    st.tuples(st.integers(0, 9)),
    st.tuples(st.integers(0, 4), st.integers(0, 5)),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 3)),
)


@cache
def special_codes(bits: int, dtype: str) -> st.SearchStrategy[int]:
    """Bits of one part: any at all, or near zero, the denormals, one, Inf and the NaN."""
    top = (1 << bits) - 1
    anything = st.integers(0, top)
    form = FLOATS.get(dtype)
    if form is None:
        return st.one_of(anything, st.sampled_from([0, 1, top, top >> 1, (top >> 1) + 1]))
    infinity = ((1 << form.exponent) - 1) << form.mantissa
    one = ((1 << (form.exponent - 1)) - 1) << form.mantissa
    sign = 1 << (bits - 1)
    near = [
        max(0, base + step) & top
        for base in (0, 1 << form.mantissa, one, infinity)
        for step in range(-3, 4)
    ]
    moderate = [one + step * (1 << max(0, form.mantissa - 3)) for step in range(-40, 40)]
    picked = [code & (top >> 1) for code in near + moderate]
    return st.one_of(anything, st.sampled_from(picked + [code | sign for code in picked]))


@st.composite
def twin_contents(
    draw: st.DrawFn, dtypes: st.SearchStrategy[str] | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Layout]:
    """Two contents of one layout; elements of the second are often those of the first."""
    dtype = draw(dtypes if dtypes is not None else st.sampled_from(sorted(STORAGE_DTYPES)))
    layout = Layout(dtype, draw(SHAPES))
    parts = 2 if dtype in PARTS else 1
    bits = layout.storage.itemsize * 8 // parts
    count = layout.elements * parts
    code = special_codes(bits, PARTS.get(dtype, dtype))
    first = draw(st.lists(code, min_size=count, max_size=count))
    # None puts an unrelated element there; a number flips these bits.
    flips = st.lists(
        st.sampled_from([0, 0, 1, 2, 1 << (bits - 1), None]), min_size=count, max_size=count
    )
    second = [
        draw(code) if flip is None else value ^ flip
        for value, flip in zip(first, draw(flips), strict=True)
    ]
    return _content(first, bits, layout), _content(second, bits, layout), layout


def _content(codes: list[int], bits: int, layout: Layout) -> npt.NDArray[Any]:
    raw = b"".join(code.to_bytes(bits // 8, "little") for code in codes)
    return np.frombuffer(raw, dtype=layout.storage).reshape(layout.shape).copy()
