"""Neighbourhoods, pictures and sentences against their definition."""

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import assume, given
from hypothesis import strategies as st

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import compare_arrays, describe, difference_map, neighbourhood
from tests.property import metric_reference as reference

Twin = tuple[npt.NDArray[Any], npt.NDArray[Any], Layout]


@given(reference.twin_contents(), st.data(), st.integers(0, 5))
def test_a_neighbourhood_is_the_elements_around(
    twin: Twin, data: st.DataObject, radius: int
) -> None:
    a, b, layout = twin
    assume(layout.elements)
    everywhere = reference.indices(layout.shape)
    middle = data.draw(st.integers(0, len(everywhere) - 1))
    rows = neighbourhood(a, b, layout, everywhere[middle], radius)
    span = range(max(0, middle - radius), min(len(everywhere), middle + radius + 1))
    assert [row.index for row in rows] == [everywhere[at] for at in span]
    codes_a, codes_b = reference.codes_of(a, layout), reference.codes_of(b, layout)
    assert [row.differs for row in rows] == [codes_a[at] != codes_b[at] for at in span]
    for row, at in zip(rows, span, strict=True):
        assert _code(row.a.hex) == codes_a[at]
        assert _code(row.b.hex) == codes_b[at]
        assert (row.a.hex == row.b.hex) == (not row.differs)


def _code(text: str) -> tuple[int, ...]:
    assert text.startswith("0x")
    return tuple(int(part, 16) for part in text[2:].split("_"))


@given(reference.twin_contents(), st.integers(1, 4), st.integers(1, 4))
def test_a_picture_counts_every_difference_in_its_cell(twin: Twin, rows: int, columns: int) -> None:
    a, b, layout = twin
    picture = difference_map(a, b, layout, rows, columns)
    width = layout.shape[-1] if layout.shape else 1
    height = layout.elements // width if width else 0
    assert picture.shape == (min(rows, height), min(columns, width))
    expected = np.zeros(picture.shape, dtype=np.int64)
    codes = zip(reference.codes_of(a, layout), reference.codes_of(b, layout), strict=True)
    for at, (x, y) in enumerate(codes):
        if x != y:
            row, column = divmod(at, width)
            expected[row * picture.shape[0] // height, column * picture.shape[1] // width] += 1
    assert picture.tolist() == expected.tolist()


@given(reference.twin_contents())
def test_sentences_give_every_number_and_no_nonzero_one_as_zero(twin: Twin) -> None:
    difference = compare_arrays(*twin)
    if difference is None:
        return
    lines = describe(difference)
    text = "\n".join(lines)
    assert lines[0].startswith(f"{difference.differing} / {difference.elements} ")
    assert difference.first_a.decimal in text
    # Of whole numbers and booleans the digits say it all.
    if difference.dtype.startswith(("float", "bfloat", "complex")):
        assert difference.first_b.hex in text
    assert all(line.isprintable() for line in lines)
    told = re.search(r"greatest absolute difference ([^\s,]+)", text)
    # What is true and not false has no distance.
    assert (told is not None) == (difference.max_abs > 0 and difference.dtype != "bool")
    if told is not None and math.isfinite(difference.max_abs):
        # As a fraction: rounded up, the greatest float64 is no float64 any more.
        error = Fraction(told.group(1)) - Fraction(difference.max_abs)
        assert abs(error) <= Fraction(difference.max_abs) / 200
    share = re.search(r"\((over )?(\S+) %\)", lines[0])
    assert share is not None
    assert float(share.group(2)) > 0
    assert (float(share.group(2)) == 100) == (difference.differing == difference.elements)
