"""What twins were told differently, and faults that show once for each component."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, diagnose
from bisect_debugger.diagnosis.conditions import command_differences, command_remarks
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import SeedingCall
from probes.writer import Header
from tests.builders import facts
from tests.handmade import Made, batch, out, stream, weight, write_made
from tests.unit.recorded import backward


def told(*words: str, path: str = "a.h5", seed: str = "") -> Any:
    calls = (SeedingCall("torch.manual_seed", seed, "train.py:3", -1),) if seed else ()
    return facts({"argv": json.dumps(words)}, calls, path)


def test_the_words_in_which_commands_differ_are_named() -> None:
    a = told("python", "train.py", "--out", "x/a.h5")
    b = told("python", "train.py", "--seed", "1", "--out", "y/b.h5", path="y/b.h5")
    assert command_differences(a, b) == (("", "--seed 1"),)
    assert list(command_remarks(a, b)) == ["The commands differ: nothing against --seed 1."]
    assert not list(command_remarks(a, told("python", "train.py", "--out", "x/a.h5")))


def test_seeds_that_differ_are_named() -> None:
    (words,) = command_remarks(told("t.py", seed="0"), told("t.py", seed="1"))
    assert words == (
        "The runs were seeded with other values: torch.manual_seed(0) against (1) at train.py:3."
    )
    assert not list(command_remarks(told("t.py", seed="0"), told("t.py", seed="entropy")))


def test_seeds_that_threads_set_in_another_order_are_the_same_ones() -> None:
    def by_threads(*seeds: str) -> Any:
        calls = tuple(SeedingCall("torch.Generator.manual_seed", s, "t.py:9", 0) for s in seeds)
        return facts({}, calls)

    assert not list(command_remarks(by_threads("1", "2", "3"), by_threads("2", "1", "3")))
    assert not list(command_remarks(by_threads("1", "2", "3", "4"), by_threads("1", "3")))
    (words,) = command_remarks(by_threads("1", "2", "3"), by_threads("2", "1", "8"))
    assert "torch.Generator.manual_seed(3) against (8) at t.py:9." in words


def seeded_steps(fault: int) -> list[list[Made]]:
    shift = 500 * fault
    names = ("python", "numpy", "torch_cpu")
    return [
        [*(stream("init", k + shift, name) for k, name in enumerate(names)), weight("net", 9)],
        [
            *(stream("start", k + shift, name) for k, name in enumerate(names)),
            batch(10 + shift),
            *(stream("forward", 30 + k + shift, name) for k, name in enumerate(names)),
            out("net", 11 + shift),
        ],
    ]


@pytest.mark.parametrize(("other_seed", "count"), [("1", 1), ("entropy", 3)])
def test_another_seed_is_one_fault_and_no_seed_is_one_for_each_stream(
    tmp_path: Path, other_seed: str, count: int
) -> None:
    calls = ("random.seed", "numpy.random.seed", "torch.manual_seed")
    paths = [
        write_made(
            tmp_path / f"{k}.h5",
            seeded_steps(k),
            seeding=[
                (call, (other_seed if k else "0"), f"train.py:{n}") for n, call in enumerate(calls)
            ],
        )
        for k in (0, 1)
    ]
    found = diagnose(paths)
    assert len(found.origins) == count
    assert {origin.cause for origin in found.origins} == {Cause.SEED_NOT_APPLIED}
    if count == 1:
        assert "rng.numpy@init, rng.torch_cpu@init differ" in " ".join(found.origins[0].evidence)
        assert found.remarks[0].startswith("The runs were seeded with other values")


def trained(path: Path, *, clip: float = 1e9, edit: bool = False) -> Path:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with probes.attach(model, optimizer, out=path, level="full"):
        for step in range(3):
            optimizer.zero_grad()
            backward(model(torch.randn(4, 6)).square().sum())
            if step == 1:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            if edit and step == 1:
                gradient = next(model.parameters()).grad
                assert gradient is not None
                gradient[0, 0] += 1e-3
            optimizer.step()
    return path


def only(found: Diagnosis) -> Any:
    (origin,) = found.origins
    return origin


def test_another_clipping_threshold_is_one_fault_of_what_scales_gradients(tmp_path: Path) -> None:
    paths = [trained(tmp_path / f"{k}.h5", clip=limit) for k, limit in enumerate((1.0, 0.5))]
    origin = only(diagnose(paths))
    assert (origin.step, origin.component, origin.group) == (1, "optimizer", Group.GRAD)
    assert origin.cause is Cause.REDUCTION_ORDER
    assert "scaled" in origin.evidence[0]
    assert not origin.dormant
    assert origin.contaminated[:2] == ("model.0", "model.2") or len(origin.contaminated) >= 2


def test_a_gradient_that_somebody_wrote_is_no_order_of_a_sum(tmp_path: Path) -> None:
    paths = [trained(tmp_path / f"{k}.h5", edit=bool(k)) for k in (0, 1)]
    origin = only(diagnose(paths))
    assert (origin.step, origin.component) == (1, "model.0")
    assert "was changed between backward and the optimizer step" in origin.evidence[0]


class Noisy(nn.Linear):
    """Adds noise of a generator that nobody seeded."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        generator = torch.Generator()
        generator.seed()
        return super().forward(x) + torch.randn(self.out_features, generator=generator)


def test_a_private_generator_in_a_module_is_no_kernel(tmp_path: Path) -> None:
    def fit(path: Path) -> Path:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 4), Noisy(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with probes.attach(model, optimizer, out=path, level="full"):
            backward(model(torch.randn(3, 4)).square().sum())
            optimizer.step()
        return path

    origin = only(diagnose([fit(tmp_path / "a.h5"), fit(tmp_path / "b.h5")]))
    assert (origin.component, origin.cause) == ("model.1", Cause.RNG_STREAM)
    assert "a generator of its own in this component" in origin.advice[0]


def test_nan_in_both_runs_is_remarked(tmp_path: Path) -> None:
    def fit(path: Path) -> Path:
        model = nn.Linear(2, 2)
        nn.init.constant_(model.weight, float("nan"))
        nn.init.zeros_(model.bias)
        with probes.attach(
            model, torch.optim.SGD(model.parameters(), 0.1), out=path, level="stats"
        ):
            backward(model(torch.ones(1, 2)).sum())
        return path

    found = diagnose([fit(tmp_path / "a.h5"), fit(tmp_path / "b.h5")])
    assert found.verdict.value == "bit-equal"
    assert "Both runs hold NaN, the first in model.weight in init." in found.remarks


@pytest.mark.parametrize(("level", "advised"), [("full", False), ("digest", True)])
def test_values_that_are_there_are_not_asked_for(tmp_path: Path, level: str, advised: bool) -> None:
    def steps(fault: int) -> Sequence[Sequence[Made]]:
        lost = Made(Group.LOSS, "loss", 12 + 500 * fault, "loss", "loss", shape=(5,))
        return [[weight("net", 1)], [batch(10), out("net", 11), lost]]

    paths = [write_made(tmp_path / f"{k}.h5", steps(k), header=Header(level=level)) for k in (0, 1)]
    origin = only(diagnose(paths))
    assert origin.cause is Cause.UNEXPLAINED
    assert any("level full" in words for words in origin.advice) is advised
