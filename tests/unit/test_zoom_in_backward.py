"""Operators of steps that optimizers close within a backward pass: seen, or said why not."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.runs.operators import read_operators


@pytest.fixture(autouse=True)
def _nothing_is_compiled() -> None:
    """Operators of a process in which a program was compiled are not seen."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()


def test_what_stands_before_the_first_of_such_steps_is_seen(tmp_path: Path) -> None:
    """Torch puts our own mode back after each node; it is no mode of the program's."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    each = {one: torch.optim.SGD([one], 0.1) for one in model.parameters()}
    for parameter in each:
        parameter.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            lambda one: each[one].step()
        )
    run = tmp_path / "a.h5"
    with probes.attach(model, list(each.values()), out=run, zoom=True):
        for _ in range(2):
            loss: torch.Tensor = model(torch.ones(1, 3)).sum()
            loss.backward()  # type: ignore[no-untyped-call]
    steps = read_operators(run)
    assert not steps[0].refused
    assert "aten::tanh" in {operator.name for operator in steps[0].operators}
    assert {steps[number].refused for number in range(1, 8)} == {
        "an optimizer stepped within the backward pass before it"
    }
