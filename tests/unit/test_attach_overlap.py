"""Recordings that overlap and end in any order leave torch as it was."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch._dynamo
from torch import nn

import probes
from tests.unit.recorded import backward, read

# Imported above, because it replaces `torch.manual_seed` for good when it is.


class Sampler:
    def sample(self) -> float:
        return 0.5


def functions() -> list[object]:
    return [
        torch.autograd.backward,
        torch.autograd.grad,
        torch.manual_seed,
        torch.random.manual_seed,
        random.seed,
        vars(random.Random)["seed"],
        vars(torch.Generator)["manual_seed"],
        np.random.default_rng,
        torch.export.export,
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_nothing_is_left_whichever_ends_first(tmp_path: Path, order: tuple[int, ...]) -> None:
    model, sampler, before = nn.Linear(2, 1), Sampler(), functions()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recordings = []
    for number in range(3):
        recordings.append(probes.attach(model, optimizer, out=tmp_path / f"{number}.h5"))
        recordings[-1].watch(sampler, "sample")
    for number in order:
        # Those that go on still see what happens.
        torch.manual_seed(sampler.sample() > 0)
        backward(model(torch.ones(1, 2)).sum())
        optimizer.step()
        recordings[number].close()
    assert functions() == before
    assert "sample" not in vars(sampler)
    for steps, number in enumerate(order, start=1):
        run = read(tmp_path / f"{number}.h5")
        assert run.facts.complete
        assert len(run.digests("loss")) == len(run.digests("replay.Sampler.sample")) == steps


def test_what_somebody_else_put_over_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, before = nn.Linear(2, 1), torch.autograd.backward
    first = probes.attach(model, out=tmp_path / "a.h5")
    below = torch.autograd.backward

    def over(*args: Any, **kwargs: Any) -> None:
        below(*args, **kwargs)

    monkeypatch.setattr(torch.autograd, "backward", over)
    second = probes.attach(model, out=tmp_path / "b.h5")
    first.close()
    second.close()
    assert torch.autograd.backward is over
    backward(model(torch.ones(1, 2)).sum())
    monkeypatch.undo()
    assert below is not before
