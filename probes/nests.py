"""Walking what a module or a sampler hands over: tuples, dicts, dataclasses and their like.

What is handed over belongs to the trainer, and reading it may compute: a lazy mapping draws the
batch that it is asked for, an attribute may be made by `__getattr__`. So nothing of it is called.
Containers are read through the iterators of the built-in types that they extend, attributes from
the dictionary of the instance, and everything else is asked of the type. The one exception is a
method that a class defines for this purpose, ``to_tuple``.
"""

from collections import OrderedDict, UserDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from itertools import islice
from types import FunctionType, MemberDescriptorType
from typing import Any

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

    Tuples, lists, dicts, dataclasses, named tuples and objects whose class has a ``to_tuple``
    method are containers; anything else is a leaf.

    Yields:
        (path, leaf): path is empty for a bare value, else like ``[0]``, ``.logits`` or
        ``[0].h``. None and empty containers yield nothing; what is too deep, too much, refuses
        to be read or contains itself yields a `Beyond`.
    """
    walk = _walk(value, "", ())
    try:
        yield from islice(walk, MAX_LEAVES)
        if next(walk, None) is not None:
            yield "", Beyond(f"more than {MAX_LEAVES} leaves, of which the rest is left out")
    except Exception as error:  # noqa: BLE001 - what a value refuses is its own affair
        # Without its words, which may hold an address.
        yield (
            "",
            Beyond(f"a {type(value).__name__} that refuses to be read ({type(error).__name__})"),
        )


def step_of(key: object, place: int) -> str:
    """The step into a dict, the same in every process.

    Args:
        key: the key that is followed.
        place: its place among the keys.
    """
    text = _lasting(key)
    # The text of any other object may hold its address, which differs in every process.
    return f".{type(key).__name__}[{place}]" if text is None else f".{text}"


def held_by(value: object) -> dict[str, Any]:
    """The attributes that an instance holds, without asking it for any; a slot is none."""
    for kind in type(value).__mro__:
        reader = kind.__dict__.get("__dict__")
        if reader is not None:
            held = reader.__get__(value) if type(reader) is _READER else None
            return held if type(held) is dict else {}
    return {}


def _walk(value: object, path: str, outer: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    if value is None:
        return
    if issubclass(type(value), _NO_CONTAINERS):
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


def _items(value: Any) -> Iterator[tuple[str, object]] | None:
    """The steps into a container, or None for a leaf."""
    kind = type(value)
    # Of the type, because an instance may answer whatever it is asked, even for its class.
    if issubclass(kind, dict):
        return _entries(value)
    if kind is tuple or kind is list:
        return ((f"[{index}]", item) for index, item in enumerate(value))
    if issubclass(kind, tuple):
        names = _on_class(kind, "_fields")
        if type(names) is tuple:
            fields = zip(names, tuple.__iter__(value), strict=False)
            return ((f".{name}", item) for name, item in fields)
        return ((f"[{index}]", item) for index, item in enumerate(tuple.__iter__(value)))
    if issubclass(kind, list):
        return ((f"[{index}]", item) for index, item in enumerate(list.__iter__(value)))
    if issubclass(kind, type):
        return None
    if issubclass(kind, Mapping):
        held = held_by(value).get("data" if issubclass(kind, UserDict) else _TENSORDICT)
        if held is not None and issubclass(type(held), dict):
            return _entries(held)
        return iter([("", Beyond(f"a {kind.__name__}: reading its items may compute them"))])
    if is_dataclass(kind):
        return ((f".{name}", _attribute(value, name)) for name in kind.__dataclass_fields__)
    to_tuple = _on_class(kind, "to_tuple")
    if type(to_tuple) is FunctionType:
        return ((f"[{index}]", item) for index, item in enumerate(to_tuple(value)))
    return None


def _entries(value: dict[Any, object]) -> Iterator[tuple[str, object]]:
    """Items as they are stored, whatever a subclass makes of them."""
    kind: Any = OrderedDict if issubclass(type(value), OrderedDict) else dict
    return (
        (f".{key}" if type(key) is str else step_of(key, place), item)
        for place, (key, item) in enumerate(kind.items(value))
    )


def _attribute(value: object, name: str) -> object:
    """A field of a dataclass: held by the instance, in a slot, or a default of the class."""
    held = held_by(value)
    if name in held:
        return held[name]
    found = _on_class(type(value), name)
    if type(found) is not MemberDescriptorType:
        return found
    try:
        return found.__get__(value)
    except AttributeError:
        return None


def _on_class(kind: type, name: str) -> Any:
    """What a class has under a name, not bound to any instance; None for nothing."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _lasting(key: Any, inside: bool = False) -> str | None:
    """A key's text, where it is the same in every process."""
    kind: Any = type(key)
    if key is None or kind is bool:
        return str(key)
    if issubclass(kind, Enum):
        return str(held_by(key).get("_name_"))
    if issubclass(kind, str):
        return str.__repr__(key) if inside else str.__str__(key)
    if issubclass(kind, int):
        return int.__repr__(key)
    if issubclass(kind, float):
        return float.__repr__(key)
    if issubclass(kind, tuple):
        texts = [_lasting(part, True) for part in tuple.__iter__(key)]
        known = [text for text in texts if text is not None]
        if len(known) == len(texts):
            return f"({known[0]},)" if len(known) == 1 else f"({', '.join(known)})"
    return None


class _Plain:
    """An instance with a dictionary, to learn the type of what reads one."""


_READER = type(_Plain.__dict__["__dict__"])

_TENSORDICT = "_tensordict"
"""Attribute in which a `tensordict.TensorDict` keeps what it holds."""

_NO_CONTAINERS = (torch.Tensor, str, bytes, int, float, Beyond)
