"""The numbers of a difference on cases small enough to know by heart."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import (
    Difference,
    ElementPair,
    Norms,
    Side,
    compare_arrays,
    difference_map,
    gather_norms,
    neighbourhood,
)


def _difference(a: npt.ArrayLike, b: npt.ArrayLike, dtype: str = "float32") -> Difference:
    layout = Layout(dtype, np.shape(a))
    difference = compare_arrays(
        np.asarray(a, dtype=layout.storage), np.asarray(b, dtype=layout.storage), layout
    )
    assert difference is not None
    return difference


def test_one_value_off_by_one_unit_in_the_last_place() -> None:
    a = np.ones((4, 8), dtype=np.float32)
    b = a.copy()
    b[1, 3] = np.nextafter(np.float32(1), np.float32(2))
    assert _difference(a, b) == Difference(
        dtype="float32",
        shape=(4, 8),
        elements=32,
        differing=1,
        rel_fro=2.0**-23 / math.sqrt(32),
        max_abs=2.0**-23,
        mean_abs=2.0**-23 / 32,
        max_ulp=1,
        ulp_histogram=((1, 1, 1),),
        first_index=(1, 3),
        last_index=(1, 3),
        axis_ranges=((1, 1), (3, 3)),
        first_a=Side("1.0", "0x3f800000"),
        first_b=Side("1.0000001", "0x3f800001"),
        nan_a=0,
        nan_b=0,
        inf_a=0,
        inf_b=0,
        negative_zero=0,
        implausible_a=0,
        implausible_b=0,
        sign_flipped_rows=0,
        rows=4,
        max_abs_index=(1, 3),
    )


def test_equal_bits_are_no_difference_whatever_they_mean() -> None:
    nan = np.array([0x7FC00001, 0x7F800000, 0x80000000], dtype="<u4").view("<f4")
    assert compare_arrays(nan, nan.copy(), Layout("float32", (3,))) is None


def test_two_nan_of_other_bits_differ() -> None:
    a = np.array([0x7FC00001, 0x3F800000], dtype="<u4").view("<f4")
    b = np.array([0x7FC00002, 0x3F800000], dtype="<u4").view("<f4")
    difference = _difference(a, b)
    assert (difference.differing, difference.nan_a, difference.nan_b) == (1, 1, 1)
    assert difference.rel_fro == 0.0
    assert difference.max_ulp is None
    assert (difference.first_a.hex, difference.first_b.hex) == ("0x7fc00001", "0x7fc00002")
    assert difference.first_a.decimal == "nan"
    assert not difference.one_sided_nonfinite


def test_the_two_zeros_differ_and_are_counted() -> None:
    difference = _difference([0.0, 0.0, 1.0], [-0.0, 0.0, 1.0])
    assert (difference.differing, difference.negative_zero) == (1, 1)
    assert (difference.max_abs, difference.max_ulp) == (0.0, 0)
    assert difference.max_abs_index is None
    assert difference.ulp_histogram == ((0, 0, 1),)
    assert (difference.first_a.decimal, difference.first_b.decimal) == ("0.0", "-0.0")


def test_a_complex_zero_may_differ_in_the_sign_of_one_part() -> None:
    difference = _difference([complex(1, 0.0)], [complex(1, -0.0)], "complex64")
    assert (difference.differing, difference.negative_zero) == (1, 1)
    assert difference.first_a == Side("1.0+0.0j", "0x3f800000_00000000")
    assert difference.first_b == Side("1.0-0.0j", "0x3f800000_80000000")


def test_one_more_inf_than_a_mask_has_is_on_one_side_only() -> None:
    mask = [-math.inf, -math.inf, 1.0]
    assert _difference(mask, [-math.inf, -math.inf, math.inf]).one_sided_nonfinite
    assert not _difference(mask, [-math.inf, -math.inf, 2.0]).one_sided_nonfinite


def test_squares_neither_overflow_nor_vanish() -> None:
    for magnitude in (1e300, 1e-300, 5e-324, 1.7e308):
        difference = _difference([magnitude, magnitude], [0.0, magnitude], "float64")
        assert difference.rel_fro == pytest.approx(math.sqrt(0.5))
        assert difference.max_abs == magnitude


def test_a_distance_past_float64_is_inf_and_its_ratio_still_a_number() -> None:
    difference = _difference([1.7e308, 1.0], [-1.7e308, 1.0], "float64")
    assert difference.max_abs == math.inf
    assert difference.rel_fro == pytest.approx(2.0)
    assert difference.mean_abs == pytest.approx(1.7e308)


def test_of_two_distances_past_float64_the_greater_one_is_found_in_any_block() -> None:
    a = np.zeros(600)
    a[3], a[300] = 1e308, 1.5e308
    for block in (256, 1024):
        difference = compare_arrays(a, -a, Layout("float64", (600,)), block=block)
        assert difference is not None
        assert (difference.max_abs, difference.max_abs_index) == (math.inf, (300,))


def test_large_integers_keep_their_low_bits() -> None:
    big = 2**62
    difference = _difference([big, -5], [big + 1, -5], "int64")
    assert (difference.differing, difference.max_abs) == (1, 1.0)
    assert difference.max_ulp is None
    assert (difference.first_a.decimal, difference.first_b.decimal) == (str(big), str(big + 1))
    widest = _difference([-(2**63)], [2**63 - 1], "int64")
    assert widest.max_abs == pytest.approx(2.0**64)


def test_all_zero_against_anything_has_no_ratio() -> None:
    assert _difference([0.0, 0.0], [0.0, 1e-30]).rel_fro == math.inf


def test_nothing_finite_left_is_said_so() -> None:
    difference = _difference([math.nan], [1.0])
    assert math.isnan(difference.rel_fro)
    assert math.isnan(difference.max_abs)
    assert (difference.nan_a, difference.nan_b, difference.max_ulp) == (1, 0, None)


def test_unwritten_memory_is_counted() -> None:
    values = [1e6, -3e30, 999_999.0, 1e-40, 0.0, math.inf]
    difference = _difference(values, [1.0] * 6)
    assert (difference.implausible_a, difference.implausible_b) == (3, 0)


def test_small_gradients_in_float16_are_plausible() -> None:
    difference = _difference([1e-6, 3e-5], [2e-6, 3e-5], "float16")
    assert (difference.implausible_a, difference.implausible_b) == (0, 0)


def test_a_flipped_row_is_told_from_a_rounded_one() -> None:
    a = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    b = a * np.array([[1.000001], [-1], [1]], dtype=np.float32)
    difference = _difference(a, b)
    assert (difference.sign_flipped_rows, difference.rows) == (1, 3)


def test_a_row_that_turned_away_is_flipped_only_below_the_threshold() -> None:
    a = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.float32)
    b = np.array([[-0.8, 0.6], [-0.91, 0.4], [0, 1]], dtype=np.float32)
    assert _difference(a, b).sign_flipped_rows == 1


def test_a_row_of_zeros_or_nan_is_not_flipped() -> None:
    a = np.array([[0, 0], [math.nan, 1], [1, 1]], dtype=np.float32)
    difference = _difference(a, -a)
    assert (difference.sign_flipped_rows, difference.rows) == (1, 3)


def test_ulp_over_zero_to_inf_and_in_float8() -> None:
    smallest = float(np.finfo(np.float32).smallest_subnormal)
    assert _difference([smallest], [-smallest]).max_ulp == 2
    assert _difference([np.finfo(np.float32).max], [math.inf]).max_ulp == 1
    assert _difference([0x08], [0x0B], "float8_e4m3fn").max_ulp == 3
    assert _difference([127], [130], "float8_e8m0fnu").max_ulp == 3
    assert _difference([0x80], [0x01], "float8_e5m2fnuz").max_ulp is None


def test_text_has_places_and_no_distance() -> None:
    a = np.frombuffer(b"seed=1", dtype="u1")
    b = np.frombuffer(b"seed=2", dtype="u1")
    difference = _difference(a, b, "str")
    assert (difference.differing, difference.first_index, difference.rows) == (1, (5,), 0)
    assert math.isnan(difference.rel_fro)
    assert difference.max_abs_index is None


def test_what_does_not_fit_the_layout_is_refused() -> None:
    layout = Layout("float32", (2,))
    good = np.zeros(2, dtype=np.float32)
    with pytest.raises(ValueError, match="float64 of shape"):
        compare_arrays(good, np.zeros(2), layout)
    with pytest.raises(ValueError, match="of shape \\(3,\\)"):
        compare_arrays(np.zeros(3, dtype=np.float32), good, layout)


def test_an_array_that_is_not_contiguous_is_read_in_row_major_order() -> None:
    a: npt.NDArray[Any] = np.arange(6, dtype=np.float32).reshape(2, 3).T
    b = a.copy()
    b[2, 0] = 9
    difference = compare_arrays(a, b, Layout("float32", (3, 2)))
    assert difference is not None
    assert difference.first_index == (2, 0)


def test_the_surroundings_of_a_bfloat16() -> None:
    a = np.array([0x3F80, 0x3DCD, 0x0000], dtype="<u2")
    b = np.array([0x3F80, 0x3DCE, 0x0000], dtype="<u2")
    one, zero = Side("1.0", "0x3f80"), Side("0.0", "0x0000")
    rows = neighbourhood(a, b, Layout("bfloat16", (3,)), (1,), 1)
    assert rows == (
        ElementPair((0,), one, one, False),
        ElementPair((1,), Side("0.10009765625", "0x3dcd"), Side("0.1005859375", "0x3dce"), True),
        ElementPair((2,), zero, zero, False),
    )


def test_a_place_outside_the_tensor_is_refused() -> None:
    a = np.zeros((2, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="axes"):
        neighbourhood(a, a, Layout("float32", (2, 2)), (1,), 1)
    with pytest.raises(ValueError, match="invalid"):
        neighbourhood(a, a, Layout("float32", (2, 2)), (1, 2), 1)
    with pytest.raises(ValueError, match="at least one row"):
        difference_map(a, a, Layout("float32", (2, 2)), 0, 3)


def test_a_picture_of_one_bad_corner() -> None:
    a = np.zeros((4, 6), dtype=np.float32)
    b = a.copy()
    b[2:, 4:] = 1
    assert difference_map(a, b, Layout("float32", (4, 6)), 2, 3).tolist() == [[0, 0, 0], [0, 0, 4]]


def test_one_norm_over_many_tensors() -> None:
    norms = Norms()
    layout = Layout("float32", (1,))
    for a, b in ((3.0, 3.0), (4.0, 4.5)):
        gather_norms(norms, np.array([a], "<f4"), np.array([b], "<f4"), layout)
    assert norms.rel_fro == pytest.approx(0.5 / 5)


def test_norms_of_far_apart_magnitudes_merge() -> None:
    layout = Layout("float64", (1,))
    merged = Norms()
    for a, b in ((3e-300, 3e-300), (4e200, 2e200), (3e200, 3e200)):
        norms = Norms()
        gather_norms(norms, np.array([a]), np.array([b]), layout)
        merged.merge(norms)
    assert merged.rel_fro == pytest.approx(2 / 5)
    tiny = Norms()
    gather_norms(tiny, np.array([1e-250]), np.array([1e-250]), layout)
    small = Norms()
    gather_norms(small, np.array([1e-250]), np.array([3e-250]), layout)
    tiny.merge(small)
    assert tiny.rel_fro == pytest.approx(math.sqrt(2))
