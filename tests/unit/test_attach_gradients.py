"""Gradients: of outputs, each backward's contribution to a parameter, and as optimizers see it."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.unit.recorded import backward, digest_of, record


def test_the_gradient_of_every_output_is_the_one_that_autograd_computes(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = torch.randn(5, 3)
    hidden = model[0](x)
    active = model[1](hidden)
    out = model[2](active)
    expected = torch.autograd.grad(out.square().sum(), [out, active, hidden])
    run = record(tmp_path / "a.h5", model, None, lambda _: backward(model(x).square().sum()))
    # The model's output and its last child's are one tensor, with a row for either.
    assert run.names(Group.GRAD_OUT) == [
        "model.2.out.grad",
        "model.out.grad",
        "model.1.out.grad",
        "model.0.out.grad",
    ]
    for name, gradient in zip(("2", "1", "0"), expected, strict=True):
        assert run.digests(f"model.{name}.out.grad") == [digest_of(gradient)]
    about = run.buffer("model.0.out.grad")
    assert (about.component, about.role, about.subject) == ("model.0", "out", "model.0.out")
    assert set(run.flags("model.0.out.grad")) == {EventFlag.IN_BACKWARD}


def test_the_gradient_of_an_output_that_is_written_to_is_that_before_the_write(
    tmp_path: Path,
) -> None:
    linear = nn.Linear(2, 2)
    model = nn.ModuleDict({"linear": linear, "relu": nn.ReLU(inplace=True)})

    def train(_: Any) -> None:
        backward((model["relu"](linear(torch.tensor([[1.0, -1.0]]))) * 3).sum())

    with torch.no_grad():
        linear.weight.copy_(torch.eye(2))
        linear.bias.zero_()
    run = record(tmp_path / "a.h5", model, None, train)
    assert run.digests("model.relu.out.grad") == [digest_of(torch.full((1, 2), 3.0))]
    assert run.digests("model.linear.out.grad") == [digest_of(torch.tensor([[3.0, 0.0]]))]


def test_each_backward_contributes_before_accumulation(tmp_path: Path) -> None:
    model = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def train(_: Any) -> None:
        for value in (1.0, 2.0, 4.0):
            backward(model(torch.tensor([[value]])).sum())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.digests("model.weight.grad_scratch") == [
        digest_of(torch.tensor([[value]])) for value in (1.0, 2.0, 4.0)
    ]
    clipped = model.weight.grad
    assert clipped is not None
    assert run.digests("model.weight.grad") == [digest_of(clipped)]
    assert float(clipped) < 1.001
    for name in ("model.weight.grad_scratch", "model.weight.grad"):
        about = run.buffer(name)
        assert (about.component, about.role, about.subject) == ("model", "weight", "model.weight")


def test_a_tied_weight_has_one_name_and_both_contributions_in_one(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(3, 2)
            self.head = nn.Linear(2, 3, bias=False)
            self.head.weight = self.table.weight

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.table(ids))  # type: ignore[no-any-return]

    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        backward(model(torch.tensor([0, 2])).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.GRAD_SCRATCH) == ["model.table.weight.grad_scratch"]
    assert run.names(Group.GRAD) == ["model.table.weight.grad"]
    # The other name stands once, at init, and says what it is.
    assert run.names(Group.PARAM, -1) == ["model.table.weight", "model.head.weight"]
    assert run.names(Group.PARAM, 0) == ["model.table.weight"]
    assert run.buffer("model.head.weight").subject == "model.table.weight"


def test_a_parameter_that_is_thawed_later_contributes_from_then_on(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for thawed in (False, True):
            loss = model(torch.ones(1, 1))
            if thawed:
                model[0].requires_grad_(True)
                loss = model(torch.ones(1, 1))
            backward(loss.sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.GRAD_SCRATCH, 0) == ["model.1.weight.grad_scratch"]
    assert run.names(Group.GRAD_SCRATCH, 1) == [
        "model.1.weight.grad_scratch",
        "model.0.weight.grad_scratch",
    ]


def test_a_parameter_put_in_the_place_of_another_keeps_the_name(tmp_path: Path) -> None:
    model = nn.Linear(1, 1, bias=False)
    first = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        backward(model(torch.ones(1, 1)).sum())
        first.step()
        model.weight = nn.Parameter(torch.full((1, 1), 9.0))
        first.param_groups[0]["params"] = [model.weight]
        backward(model(torch.ones(1, 1)).sum())
        first.step()

    run = record(tmp_path / "a.h5", model, first, train)
    assert run.names(Group.GRAD_SCRATCH) == ["model.weight.grad_scratch"] * 2
    assert run.names(Group.GRAD) == ["model.weight.grad"] * 2
    assert run.digests("model.weight")[2] == digest_of(torch.full((1, 1), 9.0))
    assert model.weight._backward_hooks in (None, {})


def test_a_sparse_gradient_is_recorded_in_parts(tmp_path: Path) -> None:
    table = nn.Embedding(4, 2, sparse=True)
    run = record(
        tmp_path / "a.h5",
        nn.ModuleDict({"table": table}),
        None,
        lambda _: backward(table(torch.tensor([1, 3])).sum()),
    )
    names = run.names(Group.GRAD_SCRATCH)
    assert "model.table.weight.grad_scratch#indices" in names
    assert run.digests("model.table.weight.grad_scratch#values") == [digest_of(torch.ones(2, 2))]


def test_hooks_of_the_trainer_work_as_ever(tmp_path: Path) -> None:
    model = nn.Linear(1, 1, bias=False)
    seen: list[float] = []

    def train(_: Any) -> None:
        out = model(torch.ones(1, 1))
        out.register_hook(lambda gradient: gradient * 2)
        out.retain_grad()
        hook = model.weight.register_hook
        hook(lambda gradient: seen.append(float(gradient)))  # type: ignore[no-untyped-call]
        backward(out.sum())
        seen.append(float(out.grad))

    record(tmp_path / "a.h5", model, None, train)
    assert seen == [2.0, 2.0]
    assert model.weight.grad is not None
    assert float(model.weight.grad) == 2.0


def test_a_gradient_that_was_zeroed_away_is_no_event(tmp_path: Path) -> None:
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        backward(model(torch.ones(1, 1)).sum())
        optimizer.zero_grad()
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.GRAD) == []
    assert len(run.names(Group.GRAD_SCRATCH)) == 2
