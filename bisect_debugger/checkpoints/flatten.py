"""Nested dicts and lists of a loaded .pt file as dotted names; knows nothing of torch.

The nesting comes from a file and may be hostile: a container inside itself, or one list held
twice by each of forty lists. So the walk keeps its own stack and counts what it visits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bisect_debugger.checkpoints.model import Part
from bisect_debugger.checkpoints.parts import part_of

MAX_DEPTH = 100
MAX_ENTRIES = 250_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """What stands at the end of a dotted name.

    Attributes:
        name: keys and positions from the outside in, joined by dots.
        part: what sort of record it belongs to.
        value: anything that is no container; a list of nothing but ints, or nothing but
            floats, is one value.
    """

    name: str
    part: Part
    value: Any


class TooNested(ValueError):
    """The nesting is deeper or wider than any checkpoint's."""


def leaves(root: Any, most: int = MAX_ENTRIES) -> Iterator[Leaf]:
    """Every leaf, outer before inner, in the order of the containers.

    A mapping with ``state`` and ``param_groups`` is what `torch.optim.Optimizer.state_dict`
    returns, so all in it is optimizer state whatever it is called.

    Args:
        root: what was loaded.
        most: entries to visit before giving up.

    Raises:
        TooNested: more than 100 levels, or more entries.
    """
    stack: list[tuple[str, bool, int, Any]] = [("", False, 0, root)]
    visited = 0
    while stack:
        name, in_optimizer, depth, value = stack.pop()
        visited += 1
        if depth > MAX_DEPTH or visited > most:
            raise TooNested
        entries = _entries(value)
        if entries is None:
            named = name or "value"
            yield Leaf(named, Part.OPTIMIZER if in_optimizer else _part(named, value), value)
            continue
        if len(entries) + len(stack) > most:
            raise TooNested
        inside = in_optimizer or _is_optimizer(value)
        prefix = f"{name}." if name else ""
        stack.extend(
            (f"{prefix}{key}", inside, depth + 1, entry) for key, entry in reversed(entries)
        )


def is_numeric(value: Any) -> bool:
    """A leaf of Python numbers, compared like a scalar tensor or a vector."""
    return isinstance(value, (bool, int, float, complex, list, tuple))


def _part(name: str, value: Any) -> Part:
    """As the name says, but a bare number beside the model's tensors is not of the model."""
    part = part_of(name)
    return Part.OTHER if part is Part.MODEL and is_numeric(value) else part


def _entries(value: Any) -> list[tuple[str, Any]] | None:
    """Keyed entries of a container, or None for a leaf."""
    if isinstance(value, Mapping):
        return [(str(key), entry) for key, entry in value.items()]
    if isinstance(value, (list, tuple)) and not _is_one_value(value):
        return [(str(index), entry) for index, entry in enumerate(value)]
    return None


def _is_one_value(value: list[Any] | tuple[Any, ...]) -> bool:
    kinds = {type(entry) for entry in value}
    return kinds in ({int}, {float})


def _is_optimizer(value: Any) -> bool:
    return isinstance(value, Mapping) and {"state", "param_groups"} <= set(value)
