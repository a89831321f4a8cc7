"""Distance in units in the last place, exact for every float type of up to 64 bits.

The bits of an IEEE float, read as sign and magnitude, order like the values. Mapping them to
integers that count the representable values from zero makes the ULP distance a subtraction
(Dawson, "Comparing Floating Point Numbers").
"""

from typing import Any

import numpy as np
import numpy.typing as npt

_WIDTH = {
    "float64": 64,
    "float32": 32,
    "float16": 16,
    "bfloat16": 16,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
}
_EXPONENT_ALL_ONES = {"float64": 0x7FF << 52, "float32": 0xFF << 23, "float16": 0x1F << 10}
_EXPONENT_ALL_ONES["bfloat16"] = 0xFF << 7


def ulp_distance(
    a: npt.NDArray[Any], b: npt.NDArray[Any], dtype: str
) -> npt.NDArray[np.uint64] | None:
    """ULP distance of each element; NaN on either side is left out.

    Args:
        a: (n,) bits as unsigned integers.
        b: (n,) bits.
        dtype: element type.

    Returns:
        (m,) distances, m <= n, or None for types without units in the last place (integers,
        complex).
    """
    width = _WIDTH.get(dtype)
    if width is None:
        return None
    numbers = ~(_is_nan(a, dtype) | _is_nan(b, dtype))
    magnitude_a, negative_a = _magnitude(a[numbers], width)
    magnitude_b, negative_b = _magnitude(b[numbers], width)
    same_side = negative_a == negative_b
    apart = np.where(
        magnitude_a > magnitude_b, magnitude_a - magnitude_b, magnitude_b - magnitude_a
    )
    # On two sides of zero the way leads through it; both magnitudes are below 2**63.
    return np.where(same_side, apart, magnitude_a + magnitude_b)


def _magnitude(
    bits: npt.NDArray[Any], width: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    wide = bits.astype(np.uint64)
    sign = np.uint64(1 << (width - 1))
    return wide & (sign - np.uint64(1)), (wide & sign) != 0


def _is_nan(bits: npt.NDArray[Any], dtype: str) -> npt.NDArray[np.bool_]:
    wide = bits.astype(np.uint64)
    if dtype in _EXPONENT_ALL_ONES:
        sign = np.uint64(1 << (_WIDTH[dtype] - 1))
        nan: npt.NDArray[np.bool_] = (wide & (sign - np.uint64(1))) > np.uint64(
            _EXPONENT_ALL_ONES[dtype]
        )
        return nan
    if dtype == "float8_e4m3fn":
        found = np.equal(wide & np.uint64(0x7F), np.uint64(0x7F))
    elif dtype == "float8_e5m2":
        found = np.greater(wide & np.uint64(0x7F), np.uint64(0x7C))
    else:
        found = np.equal(wide, np.uint64(0x80))
    return np.asarray(found, dtype=np.bool_)


class UlpHistogram:
    """Counts of ULP distances in bins by powers of two: 0, 1, 2-3, 4-7, ..."""

    def __init__(self) -> None:
        self._counts = np.zeros(65, dtype=np.int64)
        self.greatest: int | None = None

    def add(self, distances: npt.NDArray[np.uint64]) -> None:
        """Count distances."""
        if self.greatest is None:
            self.greatest = 0
        if not distances.size:
            return
        self.greatest = max(self.greatest, int(distances.max()))
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
