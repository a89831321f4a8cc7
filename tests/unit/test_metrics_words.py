"""Sentences about a difference, word for word."""

import math

import numpy as np
import pytest

from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import compare_arrays, describe, judge, percent


def _sentences(a: list[float], b: list[float], dtype: str, shape: tuple[int, ...]) -> list[str]:
    layout = Layout(dtype, shape)
    difference = compare_arrays(
        np.array(a, dtype=layout.storage).reshape(shape),
        np.array(b, dtype=layout.storage).reshape(shape),
        layout,
    )
    assert difference is not None
    return list(describe(difference))


def test_two_values_of_a_matrix() -> None:
    a = [1.0] * 12
    b = [1.0, 1.0, 1.0, 1.0 + 2**-20] + [1.0] * 6 + [1.5, 1.0]
    assert _sentences(a, b, "float32", (3, 4)) == [
        "2 / 12 elements differ (16.7 %)",
        "relFro 0.144: the size of another draw (different seed: at least 0.1)",
        "greatest absolute difference 0.5 at index (2, 2), mean 0.0417",
        "greatest distance 4194304 ULP",
        "first difference at index (0, 3): 1.0 against 1.000001 (0x3f800000 against 0x3f800008)",
        "differing indices span axis 0: 0..2, axis 1: 2..3",
    ]


def test_a_tiny_difference_is_never_zero() -> None:
    lines = _sentences([1.2e-7], [0.0], "float64", ())
    assert lines == [
        "1 / 1 elements differ (100 %)",
        "relFro 1: the size of another draw (different seed: at least 0.1)",
        "greatest absolute difference 1.2e-07, mean 1.2e-07",
        "greatest distance 4503629499566680363 ULP",
        "first difference: 1.2e-07 against 0.0 (0x3e801b2b29a4692b against 0x0000000000000000)",
    ]


def test_what_is_odd_is_said() -> None:
    a = [math.nan, 0.0, 3e30, 1.0, 2.0, 3.0]
    b = [1.0, -0.0, 1.0, -1.0, -2.0, -3.0]
    lines = _sentences(a, b, "float32", (2, 3))
    assert lines[-4:] == [
        "NaN 1 against 0, Inf 0 against 0",
        "1 element differs only in the sign of zero",
        "1 against 0 values look like memory that nobody wrote (|v| >= 1e6 or denormal)",
        "1 / 2 rows point the other way (cosine < -0.9)",
    ]


def test_text_is_told_in_bytes() -> None:
    assert _sentences([49], [50], "str", (1,)) == [
        "1 / 1 bytes differ (100 %)",
        "first difference at index (0): 49 against 50 (0x31 against 0x32)",
    ]


@pytest.mark.parametrize(
    ("rel_fro", "beginning"),
    [
        (0.0, "no distance"),
        (5e-324, "the size of rounding"),
        (1e-5, "the size of rounding"),
        (1.1e-5, "more than rounding"),
        (0.0999, "more than rounding"),
        (0.1, "the size of another draw"),
        (1.414, "the size of another draw"),
        (math.inf, "no ratio"),
        (math.nan, "no finite number"),
    ],
)
def test_the_two_thresholds_part_three_sizes(rel_fro: float, beginning: str) -> None:
    assert judge(rel_fro).startswith(beginning)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (12, 4096, "0.293 %"),
        (1, 10**9, "1e-07 %"),
        (0, 5, "0 %"),
        (0, 0, "0 %"),
        (5, 5, "100 %"),
        (99_999, 100_000, "over 99.9 %"),
        (999, 1000, "99.9 %"),
    ],
)
def test_a_share_is_neither_none_for_some_nor_all_for_most(
    part: int, whole: int, text: str
) -> None:
    assert percent(part, whole) == text


def test_labels_are_no_rounding_apart_and_stand_without_their_bits() -> None:
    assert _sentences([7.0, 3.0], [7.0, 9.0], "int64", (2,)) == [
        "1 / 2 elements differ (50 %)",
        "greatest absolute difference 6 at index (1), mean 3",
        "first difference at index (1): 3 against 9",
    ]
    assert _sentences([1.0, 0.0], [0.0, 0.0], "bool", (2,)) == [
        "1 / 2 elements differ (50 %)",
        "first difference at index (0): True against False",
    ]
