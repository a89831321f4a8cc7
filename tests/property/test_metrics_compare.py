"""Every number of a difference equals its definition, for all types, NaN and zero-size too."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import Difference, Norms, compare_arrays, gather_norms
from tests.property import metric_reference as reference

Twin = tuple[npt.NDArray[Any], npt.NDArray[Any], Layout]
TEXTS = ("str", "bytes")
CLOSE = 1e-9
"""Sums of float64 against exact ones."""

NARROW: dict[str, Any] = {"float16": np.float16, "float32": np.float32}
"""Types that numpy rounds a decimal to; what it lacks is written out exactly."""


def _is_float(dtype: str) -> bool:
    return "float" in dtype or dtype.startswith("complex")


def _compared(twin: Twin) -> tuple[Difference | None, list[Any], list[Any]]:
    a, b, layout = twin
    codes_a, codes_b = reference.codes_of(a, layout), reference.codes_of(b, layout)
    return compare_arrays(a, b, layout), codes_a, codes_b


@given(reference.twin_contents())
def test_contents_are_equal_exactly_where_their_bytes_are(twin: Twin) -> None:
    a, b, _ = twin
    difference = compare_arrays(*twin)
    assert (difference is None) == (a.tobytes() == b.tobytes())


@given(reference.twin_contents())
def test_places_of_the_differences(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    layout = twin[2]
    everywhere = reference.indices(layout.shape)
    where = [index for index, x, y in zip(everywhere, codes_a, codes_b, strict=True) if x != y]
    assert difference.elements == len(everywhere)
    assert difference.differing == len(where)
    assert difference.first_index == where[0]
    assert difference.last_index == where[-1]
    assert difference.axis_ranges == tuple(
        (min(axis), max(axis)) for axis in zip(*where, strict=True)
    )
    assert difference.percent == pytest.approx(100 * len(where) / len(everywhere))


@given(reference.twin_contents())
def test_distances(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    layout = twin[2]
    values_a = reference.numbers_of(codes_a, layout.dtype)
    values_b = reference.numbers_of(codes_b, layout.dtype)
    both = [
        (reference.exact(x), reference.exact(y))
        for x, y in zip(values_a, values_b, strict=True)
        if reference.is_finite(x) and reference.is_finite(y)
    ]
    if not both or layout.dtype in TEXTS:
        assert math.isnan(difference.rel_fro)
        assert math.isnan(difference.max_abs)
        assert math.isnan(difference.mean_abs)
        return
    squares = [reference.square(reference.minus(x, y)) for x, y in both]
    total = sum(squares, Fraction(0))
    norm = sum((reference.square(x) for x, _ in both), Fraction(0))
    if norm:
        # An exact quotient below the smallest float64 may come out as that or as 0.
        expected = reference.root(total / norm)
        assert difference.rel_fro == pytest.approx(expected, rel=CLOSE, abs=1e-320)
    else:
        assert difference.rel_fro == (math.inf if total else 0.0)
    greatest = reference.root(max(squares))
    assert difference.max_abs == pytest.approx(greatest, rel=CLOSE, abs=5e-324)
    mean = sum(reference.root(square) / len(squares) for square in squares)
    if math.isfinite(mean) and max(squares) < 2**2000:
        assert difference.mean_abs == pytest.approx(mean, rel=CLOSE, abs=5e-324)


@given(reference.twin_contents())
def test_the_greatest_difference_stands_where_it_says(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None or twin[2].dtype in TEXTS:
        return
    at = difference.max_abs_index
    assert (at is None) == (not difference.max_abs > 0)
    if at is None:
        return
    dtype = twin[2].dtype
    flat = reference.indices(twin[2].shape).index(at)
    x = reference.exact(reference.numbers_of(codes_a, dtype)[flat])
    y = reference.exact(reference.numbers_of(codes_b, dtype)[flat])
    found = reference.root(reference.square(reference.minus(x, y)))
    assert found == pytest.approx(difference.max_abs, rel=CLOSE)


@given(reference.twin_contents())
def test_what_is_not_finite_or_not_plausible_is_counted(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    dtype = twin[2].dtype
    counts = [0] * 4
    if _is_float(dtype):
        values_a = reference.numbers_of(codes_a, dtype)
        values_b = reference.numbers_of(codes_b, dtype)
        counts = [
            sum(map(reference.has_nan, values_a)),
            sum(map(reference.has_nan, values_b)),
            sum(map(reference.has_inf, values_a)),
            sum(map(reference.has_inf, values_b)),
        ]
        zeros = sum(
            x == y and codes_x != codes_y
            for x, y, codes_x, codes_y in zip(values_a, values_b, codes_a, codes_b, strict=True)
            if not reference.has_nan(x) and not reference.has_nan(y)
        )
        assert difference.negative_zero == zeros
        assert difference.implausible_a == sum(_implausible(x, dtype) for x in values_a)
        assert difference.implausible_b == sum(_implausible(y, dtype) for y in values_b)
    else:
        assert difference.negative_zero == 0
        assert difference.implausible_a == difference.implausible_b == 0
    found = [difference.nan_a, difference.nan_b, difference.inf_a, difference.inf_b]
    assert found == counts


def _implausible(element: tuple[reference.Number, ...], dtype: str) -> bool:
    if len(element) == 2 or not reference.is_finite(element):
        return False
    magnitude: Any = abs(element[0])
    if magnitude >= 10**6:
        return True
    if dtype not in reference.DENORMALS_COUNT:
        return False
    form = reference.FLOATS[dtype]
    smallest_normal: Any = reference.value_of(1 << form.mantissa, dtype)
    return bool(0 < magnitude < smallest_normal)


@given(reference.twin_contents())
def test_units_in_the_last_place(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    dtype = twin[2].dtype
    if not _is_float(dtype):
        assert difference.max_ulp is None
        assert difference.ulp_histogram == ()
        return
    part = reference.PARTS.get(dtype, dtype)
    values_a = reference.numbers_of(codes_a, dtype)
    values_b = reference.numbers_of(codes_b, dtype)
    steps = [
        max(reference.steps_apart(p, q, part) for p, q in zip(x, y, strict=True))
        for x, y, u, v in zip(codes_a, codes_b, values_a, values_b, strict=True)
        if x != y and not reference.has_nan(u) and not reference.has_nan(v)
    ]
    assert difference.max_ulp == (max(steps) if steps else None)
    assert sum(count for _, _, count in difference.ulp_histogram) == len(steps)
    for low, high, count in difference.ulp_histogram:
        assert count == sum(low <= step <= high for step in steps)
        assert (low, high) == (0, 0) or high == 2 * low - 1


@given(reference.twin_contents())
def test_rows_that_point_the_other_way(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    layout = twin[2]
    if len(layout.shape) < 2 or not _is_float(layout.dtype):
        assert (difference.sign_flipped_rows, difference.rows) == (0, 0)
        return
    surely, perhaps, rows = 0, 0, 0
    for x, y in zip(
        reference.rows_of(reference.numbers_of(codes_a, layout.dtype), layout),
        reference.rows_of(reference.numbers_of(codes_b, layout.dtype), layout),
        strict=True,
    ):
        rows += 1
        if not all(map(reference.is_finite, [*x, *y])):
            continue
        cosine = reference.cosine_sign_and_square(
            [reference.exact(element) for element in x], [reference.exact(element) for element in y]
        )
        if cosine is not None and cosine[0] < 0:
            surely += cosine[1] > (0.9 + 1e-12) ** 2
            perhaps += cosine[1] > (0.9 - 1e-12) ** 2
    assert difference.rows == rows
    assert surely <= difference.sign_flipped_rows <= perhaps


@given(reference.twin_contents())
def test_both_values_at_the_first_difference_read_back(twin: Twin) -> None:
    difference, codes_a, codes_b = _compared(twin)
    if difference is None:
        return
    layout = twin[2]
    first = reference.indices(layout.shape).index(difference.first_index)
    for side, codes in ((difference.first_a, codes_a), (difference.first_b, codes_b)):
        width = layout.storage.itemsize * 2 // len(codes[first])
        assert side.hex == "0x" + "_".join(f"{code:0{width}x}" for code in codes[first])
        value = reference.numbers_of(codes, layout.dtype)[first]
        assert _reads_back(side.decimal, value, layout.dtype)


def _reads_back(text: str, value: tuple[reference.Number, ...], dtype: str) -> bool:
    """The decimal, rounded to the element type, is the value."""
    if dtype == "bool":
        return text == str(value[0] != 0)
    if not _is_float(dtype):
        return int(text) == value[0]
    read = complex(text)
    parts = (read.real, read.imag)[: len(value)]
    kind: Any = NARROW.get(reference.PARTS.get(dtype, dtype), np.float64)
    with np.errstate(over="ignore"):
        return all(
            (isinstance(exact, float) and repr(exact).lstrip("-") == repr(part).lstrip("-"))
            or float(kind(part)) == exact
            for part, exact in zip(parts, value, strict=True)
        )


@given(reference.twin_contents(), reference.twin_contents())
def test_norms_over_several_contents_are_those_of_all_elements(one: Twin, other: Twin) -> None:
    norms, merged = Norms(), Norms()
    total, norm, finite = Fraction(0), Fraction(0), 0
    for twin in (one, other):
        gather_norms(norms, *twin)
        alone = Norms()
        gather_norms(alone, *twin)
        merged.merge(alone)
        _, codes_a, codes_b = _compared(twin)
        dtype = twin[2].dtype
        if dtype in TEXTS:
            continue
        for x, y in zip(
            reference.numbers_of(codes_a, dtype), reference.numbers_of(codes_b, dtype), strict=True
        ):
            if reference.is_finite(x) and reference.is_finite(y):
                exact_x, exact_y = reference.exact(x), reference.exact(y)
                total += reference.square(reference.minus(exact_x, exact_y))
                norm += reference.square(exact_x)
                finite += 1
    assert norms.finite == merged.finite == finite
    assert merged.rel_fro == pytest.approx(norms.rel_fro, rel=CLOSE, nan_ok=True)
    if not finite:
        assert math.isnan(norms.rel_fro)
    elif norm:
        expected = reference.root(total / norm)
        assert norms.rel_fro == pytest.approx(expected, rel=CLOSE, abs=1e-320)
    else:
        assert norms.rel_fro == (math.inf if total else 0.0)
