"""The loss: what a backward pass is started from."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from bisect_debugger.format.groups import Group
from tests.unit.recorded import backward, digest_of, record


def test_the_tensor_that_backward_is_called_on(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    losses: list[torch.Tensor] = []

    def train(_: Any) -> None:
        for _ in range(2):
            losses.append(model(torch.ones(1, 2)).square().sum())
            backward(losses[-1])

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.digests("loss") == [digest_of(loss) for loss in losses]
    about = run.buffer("loss")
    assert (about.group, about.component, about.role) == (Group.LOSS, "loss", "loss")


def test_every_way_to_start_a_backward_pass(tmp_path: Path) -> None:
    model = nn.Linear(1, 1)
    x = torch.ones(1, requires_grad=True)

    def train(_: Any) -> None:
        torch.autograd.backward([model(x).sum(), model(x).sum() * 2])
        torch.autograd.backward(tensors=model(x).sum())
        torch.autograd.grad(model(x).sum(), x)
        torch.autograd.grad(outputs=(model(x).sum(),), inputs=[x])

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.names(Group.LOSS) == ["loss", "loss[1]", "loss", "loss", "loss"]


def test_an_iterator_of_losses_is_left_to_the_backward_pass(tmp_path: Path) -> None:
    model = nn.Linear(1, 1, bias=False)

    def train(_: Any) -> None:
        losses: Any = (model(torch.ones(1)).sum() for _ in range(2))
        torch.autograd.backward(losses)

    run = record(tmp_path / "a.h5", model, None, train)
    assert model.weight.grad is not None
    assert float(model.weight.grad) == 2.0
    assert run.names(Group.LOSS) == []
    assert run.facts.uncovered == ("a loss handed over as a generator",)


def test_torch_has_its_own_functions_back(tmp_path: Path) -> None:
    before = (torch.autograd.backward, torch.autograd.grad)
    model = nn.Linear(1, 1)

    def train(_: Any) -> None:
        assert torch.autograd.backward is not before[0]
        assert torch.autograd.backward.__name__ == "backward"

    record(tmp_path / "a.h5", model, None, train)
    assert (torch.autograd.backward, torch.autograd.grad) == before


def test_what_somebody_else_put_there_since_stays(tmp_path: Path) -> None:
    original = torch.autograd.backward

    def mine(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    def train(_: Any) -> None:
        torch.autograd.backward = mine

    model = nn.Linear(1, 1)
    try:
        record(tmp_path / "a.h5", model, None, train)
        assert torch.autograd.backward is mine
    finally:
        torch.autograd.backward = original
