"""Odd things that trainers hand over or keep: they are left out, and nothing else is."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

import probes
from bisect_debugger.format.groups import Group
from tests.unit.recorded import backward, digest_of, record
from tests.unit.test_content_untouched import Lazy, Noisy, Refusing


class Takes(nn.Module):
    """Takes a tensor and anything."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, given: Any = None) -> torch.Tensor:
        out: torch.Tensor = self.part(x)
        return out


class Slots(Refusing):
    __slots__ = ()


def trained(model: nn.Module, given: object) -> Any:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for _ in range(2):
            optimizer.zero_grad()
            backward(model(torch.ones(3, 4), given=given).square().sum())
            optimizer.step()

    return optimizer, train


@pytest.mark.parametrize("kind", [Refusing, Slots, Noisy, Lazy])
def test_an_argument_that_answers_oddly_stops_no_recording(tmp_path: Path, kind: type) -> None:
    model = Takes()
    optimizer, train = trained(model, [kind()] if kind is Noisy else kind())
    before = torch.get_rng_state()
    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert torch.equal(torch.get_rng_state(), before)
    assert (run.facts.complete, run.steps) == (True, (-1, 0, 1))
    assert "data.model.in[0]" in run.names(Group.DATA, 1)


class Averaged(torch.optim.Optimizer):
    """Keeps a bare tensor for each parameter, or what `keep` makes of it."""

    def __init__(self, parameters: Any, keep: Any) -> None:
        super().__init__(parameters, {"lr": 0.1})
        self.keep = keep

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = self.keep(parameter.grad.clone())
                parameter.sub_(parameter.grad, alpha=group["lr"])


@pytest.mark.parametrize(
    ("keep", "role"),
    [
        (lambda kept: kept, "state"),
        (lambda kept: {0: kept}, "0"),
        (lambda kept: {"a": [kept]}, "a[0]"),
    ],
)
def test_an_optimizers_state_need_be_no_dict(tmp_path: Path, keep: Any, role: str) -> None:
    model = nn.Linear(4, 2)
    optimizer = Averaged(model.parameters(), keep)

    def train(_: Any) -> None:
        backward(model(torch.ones(3, 4)).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.facts.complete
    assert run.digests(f"optimizer.{role}[model.bias]") == [digest_of(torch.full((2,), 3.0))]


class Counting(TorchFunctionMode):
    """Counts the calls that a trainer's mode sees."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.calls += 1
        return function(*args, **(kwargs or {}))


class Own(torch.Tensor):
    """A tensor of the trainer's own class, which counts what is done with it."""

    calls = 0

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        Own.calls += 1
        plain: Any = super()
        return plain.__torch_function__(function, types, args, kwargs or {})


def calls_seen(own: bool) -> tuple[int, int]:
    """Calls that a mode and a class of tensors see of one step."""
    torch.manual_seed(0)
    model = Takes()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 3).t()
    seen, before = Counting(), Own.calls
    with seen:
        backward(model(x.as_subclass(Own) if own else x).square().mean())
        optimizer.step()
    return seen.calls, Own.calls - before


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("level", ["digest", "full"])
def test_a_trainers_modes_and_tensors_see_no_call_of_ours(
    tmp_path: Path, own: bool, level: str
) -> None:
    bare = calls_seen(own)
    model = Takes()
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 3).t()
    seen, before = Counting(), Own.calls
    with probes.attach(model, optimizer, out=tmp_path / "a.h5", level=level), seen:
        backward(model(x.as_subclass(Own) if own else x).square().mean())
        optimizer.step()
    assert (seen.calls, Own.calls - before) == bare
    assert bare[0] > 5


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        out: torch.Tensor = self.part(x).relu() * scale
        return out


def test_a_model_can_be_traced_while_it_is_recorded(tmp_path: Path) -> None:
    model = nn.Sequential(Inner(), Inner())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    bare = torch.fx.symbolic_trace(model).code

    def train(_: Any) -> None:
        traced = torch.fx.symbolic_trace(model)
        assert traced.code == bare
        optimizer.zero_grad()
        backward(traced(torch.ones(3, 4)).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert (run.facts.complete, run.steps) == (True, (-1, 0))
    # Tracing computed nothing: no batch came in, and the traced program calls the parts alone.
    assert run.names(Group.DATA) == []
    assert "model.0.part.out" in run.names(Group.FORWARD)
    assert "model.0.out" not in run.names(Group.FORWARD)
