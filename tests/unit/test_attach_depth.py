"""A module that calls itself may do so as deep as it does bare."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import probes
from probes import headroom
from tests.unit.recorded import read


class Tree(nn.Module):
    """A tree that has become a list."""

    def __init__(self) -> None:
        super().__init__()
        self.leaf = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, depth: int) -> torch.Tensor:
        out: torch.Tensor = self(x, depth - 1) if depth else self.leaf(x)
        return out


def in_a_thread(work: Callable[[], object]) -> object:
    """What work returns where nothing but it lies on the stack; None where that is too deep."""
    found: list[object] = []

    def target() -> None:
        try:
            found.append(work())
        except RecursionError:
            found.append(None)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    return found[0]


def reaches(model: nn.Module, depth: int) -> bool:
    return in_a_thread(lambda: model(torch.ones(1, 4), depth)) is not None


def test_a_recursive_module_goes_as_deep_as_it_does_bare(tmp_path: Path) -> None:
    model, depth = Tree(), 16
    while reaches(model, depth + 1):
        depth += 1
    assert depth > 100
    with probes.attach(model, out=tmp_path / "a.h5"):
        model(torch.ones(1, 4), 0)
        assert reaches(model, depth)
    run = read(tmp_path / "a.h5")
    assert run.facts.complete
    assert len(run.digests("model.out")) == 1 + depth + 1


def test_the_limit_is_as_it_was_afterwards(tmp_path: Path) -> None:
    before = sys.getrecursionlimit()
    first, second = (probes.attach(Tree(), out=tmp_path / name) for name in ("a.h5", "b.h5"))
    raised = sys.getrecursionlimit()
    first.close()
    assert sys.getrecursionlimit() == raised > before
    second.close()
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("own", [5_000, headroom.HIGHEST + 1])
def test_a_limit_of_the_trainers_own_is_left_alone(tmp_path: Path, own: int) -> None:
    before = sys.getrecursionlimit()
    try:
        with probes.attach(Tree(), out=tmp_path / "a.h5"):
            sys.setrecursionlimit(own)
        assert sys.getrecursionlimit() == own
        with probes.attach(Tree(), out=tmp_path / "b.h5"):
            assert (sys.getrecursionlimit() > own) is (own < headroom.HIGHEST)
        assert sys.getrecursionlimit() == own
    finally:
        sys.setrecursionlimit(before)
