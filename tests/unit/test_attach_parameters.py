"""Parameters and module buffers: at init, after each step, and changed outside a step."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from tests.unit.recorded import backward, digest_of, record


def norm_model() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    backward(model(torch.tensor([[1.0, 2.0], [3.0, 5.0]])).square().sum())
    optimizer.step()


def test_all_stand_at_init_and_after_each_step(tmp_path: Path) -> None:
    model, optimizer = norm_model()
    before = {name: digest_of(value.clone()) for name, value in model.state_dict().items()}
    run = record(tmp_path / "a.h5", model, optimizer, lambda _: step(model, optimizer))
    names = [
        "model.0.weight",
        "model.1.weight",
        "model.1.bias",
        "model.1.running_mean",
        "model.1.running_var",
        "model.1.num_batches_tracked",
    ]
    assert run.names(Group.PARAM, -1) == names
    assert run.names(Group.PARAM, 0) == names
    for name, value in model.state_dict().items():
        assert run.digests(f"model.{name}") == [before[name], digest_of(value)]
        assert run.flags(f"model.{name}") == [EventFlag.INIT, EventFlag.NONE]
    about = run.buffer("model.1.running_mean")
    assert (about.component, about.role) == ("model.1", "running_mean")


def test_a_change_between_steps_is_flagged_however_it_was_made(tmp_path: Path) -> None:
    model, optimizer = norm_model()
    weight = model.get_parameter("0.weight")

    def train(_: Any) -> None:
        step(model, optimizer)
        # Neither raises the tensor's version.
        weight.data.add_(1.0)
        step(model, optimizer)
        weight.detach().numpy()[0, 0] = 7.0
        step(model, optimizer)
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    flagged = [
        (seen.step, seen.name) for seen in run.events if EventFlag.OUTSIDE_STEP in seen.flags
    ]
    assert flagged == [(1, "model.0.weight"), (2, "model.0.weight")]


def test_steps_outside_the_window_are_no_change_outside_a_step(tmp_path: Path) -> None:
    model, optimizer = norm_model()

    def train(_: Any) -> None:
        for _ in range(5):
            step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train, steps="3:5")
    assert run.steps == (-1, 3, 4)
    assert not any(EventFlag.OUTSIDE_STEP in seen.flags for seen in run.events)
    # Where the window opens, what training has to begin with is recorded anew.
    assert run.names(Group.PARAM, 3).count("model.0.weight") == 2
    assert run.names(Group.PARAM, 4).count("model.0.weight") == 1


def test_the_place_counts_and_not_the_tensor(tmp_path: Path) -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(1))
            self.register_buffer("state", torch.zeros(1))
            self.state: torch.Tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.state = self.state + 1
            return x * self.weight

    model = Counts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for _ in range(2):
            backward(model(torch.ones(1)).sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.digests("model.state") == [
        digest_of(torch.zeros(1)),
        digest_of(torch.ones(1)),
        digest_of(torch.full((1,), 2.0)),
    ]


def test_a_lazy_parameter_is_recorded_once_it_has_a_shape(tmp_path: Path) -> None:
    model = nn.Sequential(nn.LazyLinear(2, bias=False))
    with torch.no_grad():
        weightless = len(list(model.parameters()))
    scale = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([scale], lr=0.1)

    def train(_: Any) -> None:
        backward((model(torch.ones(1, 3)) * scale).sum())
        optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert weightless == 1
    assert run.names(Group.PARAM, -1) == []
    assert run.names(Group.PARAM, 0) == ["model.0.weight"]
    assert len(run.facts.uncovered) == 1
    assert run.facts.uncovered[0].startswith("model.0.weight: ")


def test_several_models_are_told_apart_by_name(tmp_path: Path) -> None:
    actor, critic = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    run = record(tmp_path / "a.h5", {"actor": actor, "critic": critic}, None, lambda _: None)
    assert run.names(Group.PARAM) == ["actor.weight", "critic.weight"]
    run = record(tmp_path / "b.h5", [actor, critic], None, lambda _: None)
    assert run.names(Group.PARAM) == ["model[0].weight", "model[1].weight"]


def test_memory_that_was_freed_is_not_read(tmp_path: Path) -> None:
    """Sharded training frees a parameter's storage and leaves the tensor."""
    flat = torch.ones(6)
    model = nn.Module()
    model.register_parameter("first", nn.Parameter(flat[:2]))
    model.register_parameter("second", nn.Parameter(flat[2:]))
    probe = nn.Linear(1, 1)

    def train(_: Any) -> None:
        flat.untyped_storage().resize_(0)
        probe(torch.ones(1))
        flat.untyped_storage().resize_(24)
        flat.fill_(1)

    run = record(tmp_path / "a.h5", {"model": model, "probe": probe}, None, train)
    assert run.facts.complete
    assert run.names(Group.PARAM)[:2] == ["model.first", "model.second"]


class Labelled(nn.Parameter):
    """A parameter of a class of its own, which is read part by part, as one on a device is."""


def test_a_change_between_steps_is_seen_in_any_kind_of_tensor(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    for linear in model.children():
        linear.weight = Labelled(linear.get_parameter("weight").detach().clone())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        step(model, optimizer)
        step(model, optimizer)
        model.get_parameter("1.weight").data.mul_(1.5)
        step(model, optimizer)
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    flagged = [
        (seen.step, seen.name) for seen in run.events if EventFlag.OUTSIDE_STEP in seen.flags
    ]
    assert flagged == [(2, "model.1.weight")]
    assert len(run.digests("model.1.weight", 2)) == 2


def test_a_tensor_that_cannot_be_read_is_noted_once_and_left_alone(tmp_path: Path) -> None:
    model, optimizer = norm_model()
    model.register_buffer("meta", torch.empty(2, device="meta"))

    def train(_: Any) -> None:
        step(model, optimizer)
        step(model, optimizer)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.facts.complete
    assert run.facts.uncovered == ("model.meta: a meta or fake tensor, which has no values",)


def test_a_module_that_is_put_in_later_is_recorded_in_the_old_ones_place(tmp_path: Path) -> None:
    model, optimizer = norm_model()
    first = model.get_parameter("0.weight")
    other = nn.Linear(2, 2)

    def train(_: Any) -> None:
        step(model, optimizer)
        assert isinstance(model, nn.Sequential)
        model[0] = other
        optimizer.param_groups[0]["params"][0] = other.weight
        step(model, optimizer)
        step(model, optimizer)
        # The old one is kept, and is nobody's any more.
        first.data.add_(1.0)

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert run.facts.complete
    assert len(run.digests("model.0.weight", 2)) == 1
    assert run.digests("model.0.weight", 2) == [digest_of(other.weight.detach())]
    assert run.flags("model.0.bias") == [EventFlag.INIT, EventFlag.NONE, EventFlag.NONE]
    for step_ in (1, 2):
        assert "model.0.out" in run.names(Group.FORWARD, step_)
        assert "model.0.out.grad" in run.names(Group.GRAD_OUT, step_)
    assert "model.0.bias.grad_scratch" in run.names(Group.GRAD_SCRATCH, 1)


def test_a_write_in_the_middle_of_a_step_stands_before_the_call_that_used_it(
    tmp_path: Path,
) -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    weight, sample = model.get_parameter("1.weight"), torch.tensor([[1.0, 2.0]])

    def train(_: Any) -> None:
        for number in range(3):
            with torch.no_grad():
                before = model(sample)
                if number == 1:
                    weight.mul_(0.5)
            backward((model(sample) - before + 1.0).square().sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    (flagged,) = [seen for seen in run.events if EventFlag.OUTSIDE_STEP in seen.flags]
    assert (flagged.step, flagged.name) == (1, "model.1.weight")
    step_names = [seen.name for seen in run.events if seen.step == 1]
    at = step_names.index("model.1.weight")
    assert step_names[at + 1] == "model.1.in[0]"
    assert step_names[:at].count("model.1.out") == 1


def test_what_an_optimizer_writes_between_forwards_of_its_own_step_is_no_write_outside(
    tmp_path: Path,
) -> None:
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
    sample = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    calls: list[float] = []

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss: torch.Tensor = model(sample).square().sum()
        calls.append(float(loss.detach()))
        backward(loss)
        return loss.detach()

    def train(_: Any) -> None:
        for _ in range(2):
            optimizer.step(closure)  # type: ignore[no-untyped-call]

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert len(calls) > 2
    assert not any(EventFlag.OUTSIDE_STEP in seen.flags for seen in run.events)


def test_other_tensors_in_the_place_of_parameters_are_no_writes(tmp_path: Path) -> None:
    model, optimizer = norm_model()
    sample = torch.tensor([[1.0, 2.0], [3.0, 5.0]])

    def train(_: Any) -> None:
        for _ in range(2):
            model(sample)
            adapted = {name: (value * 2).add_(1.0) for name, value in model.named_parameters()}
            backward(torch.func.functional_call(model, adapted, (sample,)).square().sum())
            optimizer.step()

    run = record(tmp_path / "a.h5", model, optimizer, train)
    assert not any(EventFlag.OUTSIDE_STEP in seen.flags for seen in run.events)
