"""Walking nests: paths that are the same in every process, and bounds on everything."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace

import pytest
import torch

from probes.content import Unsupported, leaves, parts
from probes.nests import MAX_DEPTH, MAX_LEAVES, Beyond

Point = namedtuple("Point", "x y")


class Colour(Enum):
    RED = 1


@dataclass
class Output:
    logits: object
    hidden: object = None
    extra: list[object] = field(default_factory=list)


class Legacy:
    """An output class that is no mapping and no dataclass."""

    def to_tuple(self) -> tuple[object, ...]:
        return (1, (2, None))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, {"": 5}),
        (None, {}),
        ((), {}),
        ((1, 2), {"[0]": 1, "[1]": 2}),
        ([1, None, 2], {"[0]": 1, "[2]": 2}),
        ({"b": 1, "a": {"c": 2}}, {".b": 1, ".a.c": 2}),
        (OrderedDict(z=1, a=2), {".z": 1, ".a": 2}),
        ({0: "x", (1, 2): "y", Colour.RED: "z"}, {".0": "x", ".(1, 2)": "y", ".RED": "z"}),
        (Point(1, [2]), {".x": 1, ".y[0]": 2}),
        (Output(1, Output(2)), {".logits": 1, ".hidden.logits": 2}),
        (Legacy(), {"[0]": 1, "[1][0]": 2}),
        ([{"h": 1}, "text", b"raw"], {"[0].h": 1, "[1]": "text", "[2]": b"raw"}),
        (Output, {"": Output}),
    ],
)
def test_paths(value: object, expected: dict[str, object]) -> None:
    found = list(leaves(value))
    assert [path for path, _ in found] == list(expected)
    assert dict(found) == expected


def test_a_tensor_is_a_leaf_and_a_foreign_object_too() -> None:
    tensor, other = torch.ones(2, 2), SimpleNamespace(a=1)
    found = list(leaves([tensor, other]))
    assert found[0][1] is tensor
    assert found[1][1] is other


def test_keys_without_a_lasting_text_count_by_place() -> None:
    first, second = object(), object()
    assert [path for path, _ in leaves({first: 1, second: 2})] == [".object[0]", ".object[1]"]


def reasons(value: object) -> list[tuple[str, str]]:
    return [(path, leaf.reason) for path, leaf in leaves(value) if isinstance(leaf, Beyond)]


def test_what_contains_itself_ends() -> None:
    loop: list[object] = [1]
    loop += [loop] * 50
    assert reasons(loop) == [
        (f"[{index}]", "a container that contains itself") for index in range(1, 51)
    ]
    twice = [[1], [2]]
    twice[1] = twice[0]
    assert [leaf for _, leaf in leaves(twice)] == [1, 1]


def test_depth_and_number_are_bounded_and_never_silently() -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    assert reasons(deep) == [("[0]" * MAX_DEPTH, "containers nested more than 8 deep")]
    wide = list(range(MAX_LEAVES + 1))
    found = list(leaves(wide))
    assert len(found) == MAX_LEAVES + 1
    assert reasons(wide) == [("", "more than 10000 leaves, of which the rest is left out")]
    assert reasons(list(range(MAX_LEAVES))) == []
    with pytest.raises(Unsupported, match="more than 10000 leaves"):
        parts(found[-1][1])
