"""Two numbers side by side, and which of their digits differ."""

from dataclasses import dataclass

from bisect_debugger.metrics import ElementPair, Side
from bisect_debugger.metrics.bits import is_count


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with the places that differ from its twin, as (first, past the last)."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One element of both runs.

    Attributes:
        index: index per axis as text, e.g. ``(0, 3)``.
        differs: the bits differ.
        decimal: both values as decimal text that round-trips.
        hex: the bits of both, or None of integers, where they say no more.
    """

    index: str
    differs: bool
    decimal: tuple[Marked, Marked]
    hex: tuple[Marked, Marked] | None


def side_by_side(pair: ElementPair, dtype: str) -> SideBySide:
    """An element of this type with its differing digits marked."""
    index = f"({', '.join(map(str, pair.index))})"
    bits = None if is_count(dtype) else nibbles(pair.a, pair.b)
    return SideBySide(index, pair.differs, decimals(pair.a, pair.b), bits)


def decimals(a: Side, b: Side) -> tuple[Marked, Marked]:
    """Marked from the first digit that differs on.

    What follows that digit may agree by chance, and is no agreement: 0.199 and 0.209.
    """
    left, right = a.decimal, b.decimal
    if left == right:
        return Marked(left), Marked(right)
    at = 0
    if _aligned(left, right):
        at = next(
            (i for i, (x, y) in enumerate(zip(left, right, strict=False)) if x != y),
            min(len(left), len(right)),
        )
    return _from(left, at), _from(right, at)


def nibbles(a: Side, b: Side) -> tuple[Marked, Marked]:
    """Each hexadecimal digit that differs."""
    left, right = a.hex, b.hex
    if len(left) != len(right):
        return _from(left, 0), _from(right, 0)
    places = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    spans = _joined(places)
    return Marked(left, spans), Marked(right, spans)


def _aligned(left: str, right: str) -> bool:
    """The same position means the same power of ten in both."""
    (head_a, _, exponent_a), (head_b, _, exponent_b) = (_parts(x) for x in (left, right))
    return len(head_a) == len(head_b) and exponent_a == exponent_b


def _parts(text: str) -> tuple[str, str, str]:
    digits, _, exponent = text.partition("e")
    whole, _, fraction = digits.partition(".")
    return whole, fraction, exponent


def _from(text: str, at: int) -> Marked:
    return Marked(text, ((at, len(text)),) if at < len(text) else ())


def _joined(places: list[int]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)
