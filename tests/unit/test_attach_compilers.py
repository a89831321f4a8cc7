"""Compilers, tracers and exporters take a program that is recorded as they take it bare."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from probes.compiled_steps import NOTE
from tests.unit.recorded import backward, read, record


@pytest.fixture(autouse=True)
def fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def penalty(x: torch.Tensor) -> torch.Tensor:
    y = (x * x).sum()
    g = torch.autograd.grad([y], [x], create_graph=True)[0]
    assert g is not None
    return g.square().sum()


def drawn(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    return x + torch.rand_like(x)


def graphs() -> dict[str, int]:
    return dict(torch._dynamo.utils.counters["stats"])


def whole_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
    @torch.compile(backend="eager")
    def step(x: torch.Tensor) -> None:
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def optimizer_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
    compiled = torch.compile(optimizer.step, backend="eager")

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        backward(model(x).square().mean())
        compiled()

    return step


def end_of(make: Any, out: Path | None) -> tuple[bytes, dict[str, int]]:
    torch.manual_seed(0)
    torch.compiler.reset()
    torch._dynamo.utils.counters.clear()
    model = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with probes.attach(model, optimizer, out=out) if out else nullcontext():
        step = make(model, optimizer)
        for _ in range(3):
            step(torch.randn(3, 6))
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    return weights, graphs()


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is:DeprecationWarning")
@pytest.mark.parametrize("make", [whole_step, optimizer_step])
def test_an_optimizers_step_that_is_compiled_is_named_as_not_seen(
    tmp_path: Path, make: Any
) -> None:
    # The program is the same, and so is what it was compiled to.
    assert end_of(make, tmp_path / "a.h5") == end_of(make, None)
    run = read(tmp_path / "a.h5")
    assert (run.facts.complete, NOTE in run.facts.uncovered) == (True, True)


def test_a_step_that_is_not_compiled_is_not_named(tmp_path: Path) -> None:
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model, backend="eager")

    def train(_: Any) -> None:
        backward(compiled(torch.ones(3, 6)).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert (run.steps, NOTE in run.facts.uncovered) == ((-1, 0), False)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is:DeprecationWarning")
@pytest.mark.parametrize("function", [penalty, drawn])
def test_a_function_can_be_scripted_while_it_goes_on_and_after(
    tmp_path: Path, function: Any
) -> None:
    known: Any = torch.jit._builtins._builtin_table
    before = dict(known)

    def train(_: Any) -> None:
        scripted = torch.jit.script(function)
        x = torch.ones(3, requires_grad=True)
        assert torch.equal(scripted(x), function(x))

    run = record(tmp_path / "a.h5", nn.Linear(1, 1), None, train)
    assert run.facts.complete
    assert known == before
    torch.jit.script(function)


@pytest.mark.parametrize("strict", [True, False])
def test_a_model_can_be_exported_while_it_is_recorded(tmp_path: Path, strict: bool) -> None:
    model = nn.Sequential(nn.Linear(6, 4), nn.Tanh())
    x = torch.ones(3, 6)

    def train(_: Any) -> None:
        exported = torch.export.export(model, (x,), strict=strict).module()
        assert torch.equal(exported(x), model(x))

    run = record(tmp_path / "a.h5", model, None, train)
    assert run.facts.complete
    assert len(run.digests("model.out")) == 1
