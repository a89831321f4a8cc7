"""Decoding stored elements, also where a careless formula would warn or lose a part."""

import warnings

import numpy as np
import pytest

from bisect_debugger.format.layouts import Layout, to_float64


def test_a_real_part_beside_an_infinite_imaginary_part_stays() -> None:
    pair = np.array([1.5, np.inf], dtype=np.float16).view("<u4")
    (value,) = to_float64(pair, "complex32")
    assert (value.real, value.imag) == (1.5, np.inf)


def test_a_signalling_nan_is_decoded_without_a_warning() -> None:
    (value,) = to_float64(np.array([0x7F81], dtype="<u2"), "bfloat16")
    assert np.isnan(value)


def test_float8_extremes() -> None:
    codes = np.array([0x7E, 0x7F, 0x01], dtype=np.uint8)
    largest, nan, smallest = to_float64(codes, "float8_e4m3fn")
    assert (largest, smallest) == (448.0, 2.0**-9)
    assert np.isnan(nan)
    assert to_float64(np.array([0x7C], dtype=np.uint8), "float8_e5m2")[0] == np.inf


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_any_bits_become_numbers_without_a_word(dtype: str) -> None:
    layout = Layout(dtype, (4,))
    bits = np.frombuffer(b"\x01\x00\xa0\x7f" * layout.nbytes, dtype=np.uint8)[: layout.nbytes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert to_float64(bits.view(layout.storage), dtype).shape == (4,)
