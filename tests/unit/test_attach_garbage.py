"""Modules that nobody holds any more: when Python collects them is chance, and no difference."""

import gc
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.format.groups import Group
from tests.unit.recorded import Recorded, backward, record


def left_behind(path: Path, collected_at: int) -> Recorded:
    """Train one part, drop it in a cycle, and train the other; a collection comes at some step."""
    torch.manual_seed(0)
    model = nn.ModuleDict({"first": nn.Linear(2, 2), "second": nn.Linear(2, 2)})
    first = torch.optim.SGD(model["first"].parameters(), lr=0.1)
    second = torch.optim.SGD(model["second"].parameters(), lr=0.1)

    def train(recording: Any) -> None:
        nonlocal first
        roots = {"first": nn.Linear(2, 2), "held": nn.Linear(2, 2)}
        for name, root in roots.items():
            recording.cover(recording.names.add_root(name, root))
        old: Any = roots["first"]
        old.itself = [old]
        roots["held"].requires_grad_(False)
        del roots["first"]
        for step in range(6):
            if step == 1:
                del old
            if step == collected_at:
                gc.collect()
            batch = torch.ones(1, 2)
            if step == 0:
                backward(old(batch).sum() + model["first"](batch).sum())
                first.step()
            else:
                backward(model["second"](batch).sum())
                second.step()

    gc.collect()
    gc.disable()
    try:
        return record(path, model, {"first": first, "second": second}, train)
    finally:
        gc.enable()


def test_when_it_is_collected_is_no_difference(tmp_path: Path) -> None:
    early = left_behind(tmp_path / "a.h5", collected_at=1)
    late = left_behind(tmp_path / "b.h5", collected_at=4)
    for step in range(6):
        assert early.names(Group.PARAM, step) == late.names(Group.PARAM, step)
    found = diagnose([tmp_path / "a.h5", tmp_path / "b.h5"])
    assert found.verdict is Verdict.BIT_EQUAL, found.sentence
    # When it came, and after the one step in which it took part.
    assert late.names(Group.PARAM, 0).count("first.weight") == 2
    assert "first.weight" not in late.names(Group.PARAM, 3)


def test_what_does_not_take_part_is_recorded_once_it_changes(tmp_path: Path) -> None:
    model, beside = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(_: Any) -> None:
        for step in range(4):
            backward(model(torch.ones(1, 2)).sum())
            optimizer.step()
            if step == 1:
                beside.weight.data.add_(1.0)

    run = record(tmp_path / "a.h5", {"model": model, "beside": beside}, optimizer, train)
    steps = [seen.step for seen in run.events if seen.name == "beside.weight"]
    assert steps == [-1, 2]
