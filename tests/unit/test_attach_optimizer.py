"""Optimizer state, hyper-parameters, and the clock that an optimizer's step is."""

import gc
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from bisect_debugger.format.groups import Group
from tests.unit.recorded import backward, digest_of, record


def step(model: nn.Module, *optimizers: torch.optim.Optimizer) -> None:
    """One step of training on ones."""
    for optimizer in optimizers:
        optimizer.zero_grad()
    backward(model(torch.ones(1, 2)).square().sum())
    for optimizer in optimizers:
        optimizer.step()


def test_adam_moments_and_hyper_parameters(tmp_path: Path) -> None:
    model = nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.25)

    def train(_: Any) -> None:
        step(model, optimizer)
        optimizer.param_groups[0]["lr"] = 0.125
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.OPTIM, 0) == [
        "optimizer.group[0].lr",
        "optimizer.group[0].betas[0]",
        "optimizer.group[0].betas[1]",
        "optimizer.group[0].eps",
        "optimizer.group[0].weight_decay",
        "optimizer.step[model.weight]",
        "optimizer.exp_avg[model.weight]",
        "optimizer.exp_avg_sq[model.weight]",
    ]
    assert run.digests("optimizer.group[0].lr") == [digest_of(0.25), digest_of(0.125)]
    state = optimizer.state[model.weight]
    for key in ("step", "exp_avg", "exp_avg_sq"):
        assert run.digests(f"optimizer.{key}[model.weight]", 1) == [digest_of(state[key])]
    moment = run.buffer("optimizer.exp_avg[model.weight]")
    assert (moment.component, moment.role, moment.subject, moment.kind) == (
        "optimizer",
        "exp_avg",
        "model.weight",
        "torch.optim.adam.Adam",
    )
    rate = run.buffer("optimizer.group[0].lr")
    assert (rate.component, rate.role, rate.subject) == ("optimizer", "lr", "")


@pytest.mark.parametrize(
    ("make", "moments"),
    [
        (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), {"momentum_buffer"}),
        (lambda p: torch.optim.AdamW(p, amsgrad=True), {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}),
        (lambda p: torch.optim.RMSprop(p, centered=True), {"square_avg", "grad_avg"}),
        (torch.optim.Adagrad, {"sum"}),
        (torch.optim.Rprop, {"prev", "step_size"}),
        (torch.optim.Adamax, {"exp_avg", "exp_inf"}),
        (torch.optim.NAdam, {"exp_avg", "exp_avg_sq", "mu_product"}),
    ],
)
def test_any_optimizer_of_torch(tmp_path: Path, make: Any, moments: set[str]) -> None:
    model = nn.Linear(2, 1, bias=False)
    optimizer = make(model.parameters())
    run = record(tmp_path / "a.h5", model, optimizer, lambda _: step(model, optimizer))
    found = {seen.buffer.role for seen in run.of(Group.OPTIM) if seen.buffer.subject}
    assert found - {"step"} == moments


def test_an_optimizer_of_somebody_else(tmp_path: Path) -> None:
    class Signs(torch.optim.Optimizer):
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, {"rate": 0.5, "name": "signs", "exact": True})

        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for parameter in group["params"]:
                    state = self.state[parameter]
                    state["count"] = state.get("count", 0) + 1
                    state["pair"] = (torch.ones(1), {"age": 2.0})
                    parameter.data.sub_(group["rate"] * parameter.grad.sign())

    model = nn.Linear(2, 1, bias=False)
    optimizer = Signs(model.parameters())
    run = record(tmp_path / "a.h5", model, {"signs": optimizer}, lambda _: step(model, optimizer))
    assert run.names(Group.OPTIM) == [
        "signs.group[0].rate",
        "signs.count[model.weight]",
        "signs.pair[0][model.weight]",
        "signs.pair[1].age[model.weight]",
    ]
    assert run.digests("signs.count[model.weight]") == [digest_of(1)]


def test_each_step_of_several_optimizers_closes_a_step(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    first = torch.optim.SGD(model[0].parameters(), lr=0.1)
    second = torch.optim.SGD(model[1].parameters(), lr=0.1)
    run = record(tmp_path / "a.h5", model, [first, second], lambda _: step(model, first, second))
    assert run.steps == (-1, 0, 1)
    assert run.names(Group.GRAD, 0) == ["model.0.weight.grad", "model.0.bias.grad"]
    assert run.names(Group.GRAD, 1) == ["model.1.weight.grad", "model.1.bias.grad"]
    assert "optimizer[1].group[0].lr" in run.names(Group.OPTIM, 1)


def test_parameters_of_no_named_module_are_called_by_their_place(tmp_path: Path) -> None:
    model = nn.Linear(2, 1, bias=False)
    scale = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([*model.parameters(), scale], lr=0.1, momentum=0.5)

    def train(_: Any) -> None:
        backward((model(torch.ones(1, 2)) * scale).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.GRAD) == ["model.weight.grad", "optimizer.param[1].grad"]
    assert "optimizer.momentum_buffer[optimizer.param[1]]" in run.names(Group.OPTIM)


def test_work_after_the_last_optimizer_step_is_an_open_row(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        step(model, optimizer)
        model(torch.ones(1, 2))

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.steps == (-1, 0, 1)
    assert run.names(Group.FORWARD, 1) == ["model.out"]


def test_a_step_that_calls_its_parents_step_is_one_step(tmp_path: Path) -> None:
    class Mine(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    model = nn.Linear(2, 1)
    # Once the parent was made, its step carries hooks of its own.
    torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = Mine(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for _ in range(2):
            step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.steps == (-1, 0, 1)
    assert run.names(Group.GRAD, 1) == ["model.weight.grad", "model.bias.grad"]


def test_a_step_that_raised_does_not_stop_the_clock(tmp_path: Path) -> None:
    class Refuses(torch.optim.SGD):
        refuses = True

        def step(self, closure: Any = None) -> Any:
            if self.refuses:
                raise FloatingPointError("not now")
            return super().step(closure)

    model = nn.Linear(2, 1)
    optimizer = Refuses(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        with pytest.raises(FloatingPointError):
            step(model, optimizer)
        optimizer.refuses = False
        step(model, optimizer)
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.steps == (-1, 0, 1)


def test_a_scheduler_and_a_closure_change_nothing_about_steps(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(torch.ones(1, 2)).square().sum()
        backward(loss)
        return loss

    def train(_: Any) -> None:
        for _ in range(2):
            optimizer.step(closure)  # type: ignore[no-untyped-call]
            schedule.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.steps == (-1, 0, 1)
    assert run.digests("optimizer.group[0].lr") == [digest_of(1), digest_of(0.1)]
    assert len(run.digests("loss", 0)) >= 2


def test_a_parameter_that_left_the_optimizer_is_not_kept_alive(tmp_path: Path) -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    storages = []

    def train(_: Any) -> None:
        step(model, optimizer)
        storages.append(StorageWeakRef(model.weight.untyped_storage()))  # type: ignore[no-untyped-call]
        model.weight = nn.Parameter(torch.ones(1, 2))
        optimizer.param_groups.clear()
        optimizer.state.clear()
        optimizer.add_param_group({"params": list(model.parameters())})
        step(model, optimizer)
        gc.collect()
        assert storages[0].expired()  # type: ignore[no-untyped-call]

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.names(Group.GRAD, 1) == ["model.weight.grad", "model.bias.grad"]


@pytest.mark.parametrize("by_keyword", [False, True])
def test_gradients_that_a_closure_computes_are_those_of_its_step(
    tmp_path: Path, by_keyword: bool
) -> None:
    model = nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    gradients = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(torch.ones(1, 2)).square().sum()
        backward(loss)
        assert model.weight.grad is not None
        gradients.append(digest_of(model.weight.grad))
        return loss

    def train(_: Any) -> None:
        for _step in range(3):
            result = optimizer.step(closure=closure) if by_keyword else optimizer.step(closure)
            assert isinstance(result, torch.Tensor)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    for number in range(3):
        assert run.digests("model.weight.grad", number) == [gradients[number]]
    assert len(set(gradients)) == 3
