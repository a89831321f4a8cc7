"""What a trainer hands over is read without running any of its code."""

from collections import OrderedDict, UserDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from bisect_debugger.format.groups import Group
from probes.nests import Beyond, leaves


class Noisy:
    """Answers whatever it is asked, with a number of its own; its dunders are counted as well."""

    asked = 0

    def __getattribute__(self, name: str) -> Any:
        Noisy.asked += 1
        return torch.randn(2)

    def __iter__(self) -> Any:
        raise RuntimeError("nobody has to go through this")


class Refusing:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


class Lazy(Mapping[str, torch.Tensor]):
    """A batch that is drawn when it is asked for."""

    def __getitem__(self, key: str) -> torch.Tensor:
        return torch.randn(2)

    def __iter__(self) -> Iterator[str]:
        return iter(["x"])

    def __len__(self) -> int:
        return 1


class Drawing(dict[str, object]):
    """A dict that is more than what it holds."""

    def __getitem__(self, key: str) -> Any:
        return torch.randn(2)

    def __iter__(self) -> Any:
        raise RuntimeError("nobody has to go through this")

    items = values = keys = __iter__


class Wrapped(UserDict[str, object]):
    def __getitem__(self, key: str) -> Any:
        return torch.randn(2)


@dataclass(slots=True)
class Slotted:
    left: int
    right: int = 2


@dataclass
class Fielded:
    left: int
    late: int = field(init=False, default=5)
    unset: int = field(init=False)

    def __getattr__(self, name: str) -> Any:
        return torch.randn(2)


def test_nothing_of_it_is_called() -> None:
    before, asked = torch.get_rng_state(), Noisy.asked
    noisy = Noisy()
    for value in (noisy, Refusing(), Lazy(), Drawing(a=1), Wrapped(a=1), Fielded(1)):
        list(leaves([value, (value,), {"k": value}]))
    assert torch.equal(torch.get_rng_state(), before)
    assert Noisy.asked == asked


def test_dicts_are_read_as_they_are_stored() -> None:
    moved = OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    assert list(leaves(moved)) == [(".b", 2), (".a", 1)]
    assert list(leaves(Drawing(a=1, b=[2]))) == [(".a", 1), (".b[0]", 2)]
    assert list(leaves(Wrapped(a=1))) == [(".a", 1)]


def test_fields_are_read_where_they_are_held() -> None:
    assert list(leaves(Slotted(1))) == [(".left", 1), (".right", 2)]
    assert list(leaves(Fielded(1))) == [(".left", 1), (".late", 5)]


def test_what_would_have_to_be_computed_is_named_as_left_out() -> None:
    (found,) = leaves([Lazy()])
    assert found == ("[0]", Beyond("a Lazy: reading its items may compute them"))


def test_what_refuses_to_be_read_is_named_as_left_out() -> None:
    class Broken:
        def to_tuple(self) -> Any:
            raise RuntimeError("at 0x7f")

    assert list(leaves((1, Broken()))) == [
        ("[0]", 1),
        ("", Beyond("a tuple that refuses to be read (RuntimeError)")),
    ]


class Key:
    pass


class Word(str):
    __slots__ = ()

    def __str__(self) -> str:
        return f"{id(self)}"

    __repr__ = __str__


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ((Key(), "in"), ".tuple[0]"),
        ((1, (Key(),)), ".tuple[0]"),
        (frozenset((1,)), ".frozenset[0]"),
        ((Group.DATA, "in", 1.5, None), ".(DATA, 'in', 1.5, None)"),
        (("one",), ".('one',)"),
        ((), ".()"),
        (True, ".True"),
        (Word("word"), ".word"),
        ((Word("word"), 2), ".('word', 2)"),
    ],
)
def test_keys_have_the_same_name_in_every_process(key: object, step: str) -> None:
    assert [path for path, _ in leaves({key: 1})] == [step]
