"""Distance in units in the last place, exact for every float type of up to 64 bits.

The bits of an IEEE float, read as sign and magnitude, order like the values. Mapping them to
integers that count the representable values from zero makes the ULP distance a subtraction
(Dawson, "Comparing Floating Point Numbers"). So the two zeros are 0 apart, the greatest number
and Inf are 1 apart, and a NaN has no distance to anything.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bisect_debugger.metrics.bits import Words, any_part, part_type

_LAST_NUMBER = {
    "float64": 0x7FF << 52,
    "float32": 0xFF << 23,
    "float16": 0x1F << 10,
    "bfloat16": 0xFF << 7,
    "float8_e4m3fn": 0x7E,
    "float8_e4m3fnuz": 0x7F,
    "float8_e5m2": 0x7C,
    "float8_e5m2fnuz": 0x7F,
    "float8_e8m0fnu": 0xFE,
}
"""Greatest magnitude bits that are a number or Inf; what lies above is NaN."""

_UNSIGNED = "float8_e8m0fnu"
_NEGATIVE_ZERO_IS_NAN = frozenset({"float8_e4m3fnuz", "float8_e5m2fnuz"})


def ulp_distance(a: Words, b: Words, dtype: str) -> npt.NDArray[np.uint64] | None:
    """ULP distance of each element; one with a NaN on either side is left out.

    The distance of two complex numbers is the greater one of their parts' distances.

    Args:
        a: (n, p) words of bits.
        b: (n, p) words.
        dtype: element type.

    Returns:
        (m,) distances, m <= n, or None for types without units in the last place (integers,
        text).
    """
    part = part_type(dtype)
    if part not in _LAST_NUMBER:
        return None
    numbers = ~any_part(_is_nan(a, part) | _is_nan(b, part))
    magnitude_a, negative_a = _magnitude(a[numbers], part)
    magnitude_b, negative_b = _magnitude(b[numbers], part)
    apart = np.where(
        magnitude_a > magnitude_b, magnitude_a - magnitude_b, magnitude_b - magnitude_a
    )
    # On two sides of zero the way leads through it; both magnitudes are below 2**63.
    distances = np.where(negative_a == negative_b, apart, magnitude_a + magnitude_b)
    greatest: npt.NDArray[np.uint64] = distances.max(axis=1)
    return greatest


def _magnitude(words: Words, part: str) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    wide = words.astype(np.uint64)
    if part == _UNSIGNED:
        return wide, np.zeros(wide.shape, dtype=np.bool_)
    sign = np.uint64(1 << (words.dtype.itemsize * 8 - 1))
    return wide & (sign - np.uint64(1)), (wide & sign) != 0


def _is_nan(words: Words, part: str) -> npt.NDArray[np.bool_]:
    magnitude, negative = _magnitude(words, part)
    nan: npt.NDArray[Any] = magnitude > np.uint64(_LAST_NUMBER[part])
    if part in _NEGATIVE_ZERO_IS_NAN:
        nan = nan | (negative & (magnitude == 0))
    return nan


class UlpHistogram:
    """Counts of ULP distances in bins by powers of two: 0, 1, 2-3, 4-7, ..."""

    def __init__(self) -> None:
        """Begin with no distance."""
        self._counts = np.zeros(65, dtype=np.int64)
        self.greatest: int | None = None

    def add(self, distances: npt.NDArray[np.uint64]) -> None:
        """Count distances."""
        if not distances.size:
            return
        self.greatest = max(self.greatest or 0, int(distances.max()))
        bounds = np.array([1 << power for power in range(64)], dtype=np.uint64)
        bins = np.searchsorted(bounds, distances, side="right")
        self._counts += np.bincount(bins, minlength=65)

    def bins(self) -> tuple[tuple[int, int, int], ...]:
        """(low, high, count) of every bin that holds something, ``low <= ULP <= high``."""
        found = []
        for index in np.flatnonzero(self._counts).tolist():
            low, high = (0, 0) if index == 0 else (1 << (index - 1), (1 << index) - 1)
            found.append((low, high, int(self._counts[index])))
        return tuple(found)
