"""What a recipe holds is made again as it was, through a file that holds no pickled class."""

import enum
import functools
import random
import threading
from collections import OrderedDict, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from probes.isolation import NotIsolated
from probes.isolation.recipes import Recipes
from probes.isolation.script import Maker


@dataclass
class Config:
    width: int
    rate: float = 0.5


class Colour(enum.Enum):
    RED = 1


class Slotted:
    __slots__ = ("x",)


class Cell(nn.Module):
    """A recurrent cell that shares its weight and knows where it stands."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)
        self.out = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.out.weight
        self.register_buffer("seen", torch.zeros(2, dtype=torch.int64))
        self.config = Config(3)
        self.act = torch.tanh

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.rnn(x)
        result: torch.Tensor = self.tied(self.act(self.out(hidden))) * self.config.rate
        return result


def again(value: Any, folder: Path) -> Any:
    """The value, written to a file and made from it."""
    recipes = Recipes()
    recipe = recipes.of(value, "it")
    path = folder / "inputs.pt"
    whole = {"recipe": recipe, "tensors": recipes.tensors, "objects": recipes.objects}
    torch.save(whole, path)
    saved = torch.load(path, weights_only=True)
    return Maker(saved).make(saved["recipe"])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        2.5,
        1 + 2j,
        "text",
        b"bytes",
        [1, (2, {3}), frozenset((4,))],
        {"a": 1, 2: [3]},
        OrderedDict(b=1, a=2),
        deque((1, 2), 5),
        torch.Size((2, 3)),
        torch.float16,
        torch.channels_last,
        torch.device("cpu"),
        np.float32(1.5),
        Config(3, 0.25),
        Colour.RED,
        Config,
        torch.relu,
        np,
    ],
)
def test_values_come_back_equal(value: object, tmp_path: Path) -> None:
    made = again(value, tmp_path)
    assert type(made) is type(value)
    assert made == value


def test_generators_draw_what_they_would_have_drawn(tmp_path: Path) -> None:
    numpy, python, own = np.random.default_rng(3), random.Random(3), torch.Generator()
    own.manual_seed(3)
    made = again([numpy, python, own], tmp_path)
    assert made[0].integers(1 << 60) == numpy.integers(1 << 60)
    assert made[1].random() == python.random()
    assert torch.equal(torch.rand(2, generator=made[2]), torch.rand(2, generator=own))


def test_things_without_content_come_back_in_kind(tmp_path: Path) -> None:
    held = [ThreadPoolExecutor(3), threading.Lock(), functools.partial(max, 3), defaultdict(list)]
    pool, lock, partial, table = again(held, tmp_path)
    assert pool._max_workers == 3
    assert lock.acquire(blocking=False)
    assert partial(2) == 3
    assert table["new"] == []


def test_a_module_computes_the_same_bits_and_shares_what_it_shared(tmp_path: Path) -> None:
    module = Cell().eval()
    made = again(module, tmp_path)
    x = torch.randn(2, 5, 3)
    assert torch.equal(made(x), module(x))
    assert made.tied.weight is made.out.weight
    assert not made.training
    assert [name for name, _ in made.named_parameters()] == [
        name for name, _ in module.named_parameters()
    ]
    made(x).sum().backward()
    module(x).sum().backward()
    for mine, yours in zip(made.parameters(), module.parameters(), strict=True):
        assert mine.grad is not None
        assert yours.grad is not None
        assert torch.equal(mine.grad, yours.grad)


def test_what_was_computed_may_be_written_to_and_asks_for_its_gradient(tmp_path: Path) -> None:
    leaf = torch.ones(2, requires_grad=True)
    made = again(leaf * 2, tmp_path)
    assert torch.equal(made.add_(1), torch.full((2,), 3.0))
    assert made.requires_grad


def hooked() -> nn.Module:
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda *_: None)
    return module


def local() -> object:
    class Local:
        def __init__(self) -> None:
            self.x = 1

    return Local()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (hooked(), "hooks of the program's own"),
        (local(), "is defined in a function"),
        (Slotted(), "is a Slotted"),
        (lambda: None, "is a function"),
        (threading.Event(), "is a builtin_function_or_method"),
        (np.array(["a"]), "is a ndarray"),
    ],
)
def test_what_cannot_be_made_again_is_refused_with_the_reason(value: object, reason: str) -> None:
    with pytest.raises(NotIsolated, match=reason):
        Recipes().of([value], "it")
