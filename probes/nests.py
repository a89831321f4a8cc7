"""Walking what a module or a sampler hands over: tuples, dicts, dataclasses and their like."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from itertools import islice

import torch

MAX_DEPTH = 8
"""Deepest nesting of containers that is walked."""

MAX_LEAVES = 10_000
"""Most leaves of one value; each would be a buffer of its own."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """Stands for what was not walked.

    Attributes:
        reason: what it is and why it was left out.
    """

    reason: str


def leaves(value: object) -> Iterator[tuple[str, object]]:
    """Walk a nest of containers in a stable order.

    Tuples, lists, mappings, dataclasses, named tuples and objects with a ``to_tuple`` method
    are containers; anything else is a leaf.

    Yields:
        (path, leaf): path is empty for a bare value, else like ``[0]``, ``.logits`` or
        ``[0].h``. None and empty containers yield nothing; what is too deep, too much or
        contains itself yields a `Beyond`.
    """
    walk = _walk(value, "", ())
    yield from islice(walk, MAX_LEAVES)
    if next(walk, None) is not None:
        yield "", Beyond(f"more than {MAX_LEAVES} leaves, of which the rest is left out")


def _walk(value: object, path: str, outer: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    if value is None:
        return
    if isinstance(value, (torch.Tensor, str, bytes, int, float)):
        yield path, value
        return
    items = _items(value)
    if items is None:
        yield path, value
    elif id(value) in outer:
        yield path, Beyond("a container that contains itself")
    elif len(outer) >= MAX_DEPTH:
        yield path, Beyond(f"containers nested more than {MAX_DEPTH} deep")
    else:
        for step, item in items:
            yield from _walk(item, path + step, (*outer, id(value)))


def _items(value: object) -> Iterator[tuple[str, object]] | None:
    """The steps into a container, or None for a leaf."""
    if isinstance(value, Mapping):
        return ((_key(key, place), item) for place, (key, item) in enumerate(value.items()))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ((f".{name}", getattr(value, name)) for name in value._fields)
    if isinstance(value, (tuple, list)):
        return ((f"[{index}]", item) for index, item in enumerate(value))
    if isinstance(value, type):
        return None
    if is_dataclass(value):
        names = (entry.name for entry in fields(value))
        return ((f".{name}", getattr(value, name, None)) for name in names)
    to_tuple = getattr(value, "to_tuple", None)
    if callable(to_tuple):
        return ((f"[{index}]", item) for index, item in enumerate(to_tuple()))
    return None


def _key(key: Hashable, place: int) -> str:
    if isinstance(key, Enum):
        return f".{key.name}"
    if isinstance(key, (str, int, float, tuple)):
        return f".{key}"
    # The text of any other object may hold its address, which differs in every process.
    return f".{type(key).__name__}[{place}]"
