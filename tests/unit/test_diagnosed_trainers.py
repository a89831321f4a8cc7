"""Real trainers, recorded twice with one fault: the diagnosis names the component at fault."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

import probes
from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, diagnose
from tests.unit.recorded import backward

Fit = Callable[[int, Path], None]


def twins(tmp_path: Path, fit: Fit) -> Diagnosis:
    """Diagnose what ``fit(fault, path)`` records for no fault and for one."""
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for fault, path in enumerate(paths):
        torch.manual_seed(0)
        fit(fault, path)
    return diagnose(paths)


def components(found: Diagnosis) -> list[tuple[int, str, Cause]]:
    return [(origin.step, origin.component, origin.cause) for origin in found.origins]


class Noisy(nn.Linear):
    """A linear layer whose kernel can be at fault."""

    noise = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + self.noise


def close(optimizer: torch.optim.Optimizer, value: torch.Tensor) -> None:
    optimizer.zero_grad()
    backward(value)
    optimizer.step()


def test_a_target_network_under_no_grad_is_found(tmp_path: Path) -> None:
    def fit(fault: int, path: Path) -> None:
        online, target = Noisy(8, 4), Noisy(8, 4)
        optimizer = torch.optim.Adam(online.parameters())
        with probes.attach({"q": online, "target": target}, optimizer, out=path):
            for step in range(4):
                target.noise = 1e-3 * fault * (step == 2)
                with torch.no_grad():
                    wanted = 1 + target(torch.randn(4, 8)).max(1).values
                close(optimizer, (online(torch.randn(4, 8)).max(1).values - wanted).square().mean())

    assert components(twins(tmp_path, fit)) == [(2, "target", Cause.FORWARD_KERNEL)]


class Dropping(nn.Module):
    """Layers of which some are skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Noisy(8, 8)
        self.layers: list[nn.Module] = [self.first, *(nn.Linear(8, 8) for _ in range(3))]
        self.others = nn.ModuleList(self.layers[1:])
        self.skip: tuple[int, ...] = ()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            if number not in self.skip:
                x = torch.tanh(layer(x))
        return x


def test_a_fault_in_a_step_that_skips_a_layer_is_found(tmp_path: Path) -> None:
    def fit(fault: int, path: Path) -> None:
        model = Dropping()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path):
            for step in range(5):
                model.skip = (1,) if step == 3 else ()
                model.first.noise = 1e-3 * fault * (step == 3)
                close(optimizer, model(torch.randn(4, 8)).square().mean())

    found = twins(tmp_path, fit)
    assert components(found) == [(3, "model.first", Cause.FORWARD_KERNEL)]
    assert "model.others.1" in found.origins[0].contaminated


class Siamese(nn.Module):
    """One encoder called twice, at fault in the first call only."""

    def __init__(self) -> None:
        super().__init__()
        self.enc = Noisy(8, 8)
        self.noise = 0.0

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        self.enc.noise = self.noise
        first = self.enc(left)
        self.enc.noise = 0.0
        return (first * self.enc(right)).sum(1)  # type: ignore[no-any-return]


def test_a_shared_encoder_is_found_and_not_what_holds_it(tmp_path: Path) -> None:
    def fit(fault: int, path: Path) -> None:
        pair = Siamese()
        model = nn.ModuleDict({"pair": pair})
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path):
            for step in range(3):
                pair.noise = 1e-3 * fault * (step == 1)
                value = pair(torch.randn(4, 8), torch.randn(4, 8))
                close(optimizer, value.square().mean())

    assert components(twins(tmp_path, fit)) == [(1, "model.pair.enc", Cause.FORWARD_KERNEL)]


def test_a_weight_written_between_steps_is_an_update_from_outside(tmp_path: Path) -> None:
    def fit(fault: int, path: Path) -> None:
        last = nn.Linear(8, 1)
        model = nn.Sequential(nn.Linear(8, 8), last)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path):
            for step in range(4):
                if fault and step == 2:
                    last.weight.data.mul_(1.001)
                close(optimizer, model(torch.randn(4, 8)).square().mean())

    assert components(twins(tmp_path, fit)) == [(2, "model.1", Cause.ASYNC_UPDATE)]


def test_an_optimizer_built_in_another_order_is_named(tmp_path: Path) -> None:
    def fit(fault: int, path: Path) -> None:
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        weights = list(model.parameters())
        optimizer = torch.optim.SGD(weights[::-1] if fault else weights, lr=0.1, momentum=0.9)
        with probes.attach(model, optimizer, out=path):
            for _ in range(3):
                close(optimizer, model(torch.randn(4, 4)).square().mean())

    found = twins(tmp_path, fit)
    assert [origin.cause for origin in found.origins] == [Cause.OPTIMIZER_ORDER]
    assert "not recorded" not in found.sentence


def test_a_hidden_state_carried_over_steps_blames_no_batch(tmp_path: Path) -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mix = Noisy(12, 4)

        def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, Any]:
            hidden = torch.tanh(self.mix(torch.cat([x, hidden], 1)))
            return hidden.sum(1), hidden

    def fit(fault: int, path: Path) -> None:
        model = Cell()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        hidden = torch.zeros(2, 4)
        with probes.attach(model, optimizer, out=path):
            for step in range(4):
                model.mix.noise = 1e-3 * fault * (step == 1)
                value, hidden = model(torch.randn(2, 8), hidden.detach())
                close(optimizer, value.square().mean())

    assert components(twins(tmp_path, fit)) == [(1, "model.mix", Cause.FORWARD_KERNEL)]


def test_equal_runs_of_a_varying_program_are_equal(tmp_path: Path) -> None:
    def fit(_: int, path: Path) -> None:
        model = Dropping()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path):
            for step in range(5):
                model.skip = (step % 3,)
                close(optimizer, model(torch.randn(4, 8)).square().mean())

    found = twins(tmp_path, fit)
    assert (found.verdict.value, found.origins, found.remarks) == ("bit-equal", (), ())
