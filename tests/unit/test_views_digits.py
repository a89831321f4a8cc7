"""Which digits of two values are marked as different."""

import pytest

from bisect_debugger.metrics import ElementPair, Side
from bisect_debugger.views.digits import decimals, nibbles, side_by_side


def _marked(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[first:last] for first, last in spans]


@pytest.mark.parametrize(
    ("a", "b", "left", "right"),
    [
        ("0.125", "0.125", [], []),
        ("0.199", "0.209", ["199"], ["209"]),
        ("1.5", "-1.5", ["1.5"], ["-1.5"]),
        ("12.5", "1.25", ["12.5"], ["1.25"]),
        ("1.5e-7", "1.5e-8", ["1.5e-7"], ["1.5e-8"]),
        ("1.25", "1.250001", [], ["0001"]),
        ("nan", "0.5", ["nan"], ["0.5"]),
    ],
)
def test_a_decimal_is_marked_from_the_first_digit_that_differs(
    a: str, b: str, left: list[str], right: list[str]
) -> None:
    one, other = decimals(Side(a, ""), Side(b, ""))
    assert _marked(one.text, one.spans) == left
    assert _marked(other.text, other.spans) == right


def test_each_hexadecimal_digit_that_differs_is_marked() -> None:
    one, other = nibbles(Side("", "0x3f80a0b1"), Side("", "0x3f81a0ff"))
    assert _marked(one.text, one.spans) == ["0", "b1"]
    assert _marked(other.text, other.spans) == ["1", "ff"]
    assert nibbles(Side("", "0x00"), Side("", "0x0000"))[0].spans == ((0, 4),)


def test_an_element_carries_its_index_as_text() -> None:
    scalar = ElementPair((), Side("1", "0x01"), Side("1", "0x01"), differs=False)
    assert side_by_side(scalar, "float32").index == "()"
    deep = ElementPair((1, 2), Side("1", "0x01"), Side("2", "0x02"), differs=True)
    assert side_by_side(deep, "float32").index == "(1, 2)"
    assert side_by_side(deep, "float32").differs


def test_integers_stand_without_their_bits() -> None:
    label = ElementPair((3,), Side("7", "0x0000000000000007"), Side("9", "0x09"), differs=True)
    shown = side_by_side(label, "int64")
    assert shown.hex is None
    assert [side.text for side in shown.decimal] == ["7", "9"]
