"""Modules, parameters and buffers that come, go and change places during a recording."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.unit.recorded import Recorded, backward, digest_of, record


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))


def trained(
    tmp_path: Path,
    model: nn.Module,
    change: Callable[[int, torch.optim.Optimizer], None],
    steps: int = 3,
) -> Recorded:
    """Train, with a change ahead of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for number in range(steps):
            change(number, optimizer)
            optimizer.zero_grad()
            backward(model(torch.ones(2, 4)).square().mean())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert (run.facts.complete, len(run.steps)) == (True, steps + 1)
    return run


def test_a_parameter_that_is_registered_late_is_recorded(tmp_path: Path) -> None:
    model: Any = net()
    late = nn.Parameter(torch.ones(3))

    def change(number: int, optimizer: torch.optim.Optimizer) -> None:
        if number == 1:
            model.register_parameter("late", late)
            model[0].register_buffer("seen", torch.zeros(2))
            optimizer.add_param_group({"params": [late]})
            model.register_forward_pre_hook(lambda _, args: (args[0] + model.late.sum(),))

    run = trained(tmp_path, model, change)
    assert run.names(Group.PARAM, 0) == ["model.0.weight", "model.1.weight"]
    assert run.names(Group.PARAM, 1)[:2] == ["model.late", "model.0.seen"]
    assert run.flags("model.late")[0] is EventFlag.INIT
    assert run.digests("model.late", 1)[0] == digest_of(torch.ones(3))
    assert run.digests("model.late", 2) == [digest_of(late)]
    for step in (1, 2):
        assert "model.late.grad" in run.names(Group.GRAD, step)
        assert "model.late.grad_scratch" in run.names(Group.GRAD_SCRATCH, step)


def test_a_module_that_is_put_in_anothers_place_is_recorded_unused(tmp_path: Path) -> None:
    model = nn.ModuleDict({"used": nn.Linear(4, 2), "spare": nn.Linear(2, 2)})
    optimizer = torch.optim.SGD(model["used"].parameters(), lr=0.1)
    new = nn.Linear(2, 2)

    def train(_: Any) -> None:
        for number in range(3):
            if number == 1:
                model["spare"] = new
                model["more"] = nn.Linear(1, 1)
            if number == 2:
                with torch.no_grad():
                    new.weight.add_(1)
            backward(model["used"](torch.ones(2, 4)).sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.facts.complete
    assert "model.more.bias" in run.names(Group.PARAM, 1)
    # New at step 1, changed at step 2, and the value after each step.
    assert len(set(run.digests("model.spare.weight"))) == 3
    assert run.digests("model.spare.weight", 2)[-1] == digest_of(new.weight)


def test_replacing_what_has_a_name_is_no_growth(tmp_path: Path) -> None:
    model = net()
    model.register_buffer("kept", torch.zeros(1))

    def change(number: int, optimizer: torch.optim.Optimizer) -> None:
        model.kept = torch.full((1,), float(number))
        model[0].weight = nn.Parameter(torch.ones(4, 4))

    run = trained(tmp_path, model, change)
    assert run.names(Group.PARAM, 2).count("model.kept") == 2
    assert not any(flags & EventFlag.INIT for flags in run.flags("model.kept")[1:])


def tie(model: nn.Sequential, number: int) -> None:
    if number == 1:
        model[1].weight = model[0].weight
    if number == 2:
        for part in model:
            part.weight = nn.Parameter(torch.ones(4, 4))


def swap(model: nn.Sequential, number: int) -> None:
    model[0].weight, model[1].weight = model[1].weight, model[0].weight


@pytest.mark.parametrize("move", [tie, swap])
def test_parameters_may_change_places_at_will(tmp_path: Path, move: Any) -> None:
    model = net()
    run = trained(tmp_path, model, lambda number, _: move(model, number), steps=5)
    for place in ("0", "1"):
        name = f"model.{place}.weight"
        assert run.digests(name, 4)[-1] == digest_of(model.get_parameter(f"{place}.weight"))
    assert {"model.0.weight.grad", "model.1.weight.grad"} >= set(run.names(Group.GRAD, 4))


def test_a_module_that_stands_below_itself_is_named_once(tmp_path: Path) -> None:
    model = net()
    model[0].owner = model
    run = trained(tmp_path, model, lambda *_: None)
    assert run.names(Group.PARAM, -1) == ["model.0.weight", "model.1.weight"]
