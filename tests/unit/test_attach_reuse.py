"""A tensor that was hashed already: known where nobody can have written to it, else hashed again.

Writes through numpy, `.data` or shared memory raise no version, so memory that is the trainer's
own is never taken on trust.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bisect_debugger.format.groups import Group
from probes.recorder import REUSE_BYTES
from tests.unit.recorded import backward, digest_of, record

WIDTH = 128
ROWS = REUSE_BYTES // (4 * WIDTH) + 1


class Aside(nn.Module):
    """Hands one memory over and over to a part of itself."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(WIDTH, 1)
        self.memory = np.zeros((ROWS, WIDTH), dtype=np.float32)
        self.view = torch.from_numpy(self.memory)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.part(x)
        for value in (1.0, 2.0):
            self.memory[:] = value
            out = out + self.part(self.view)
        return out


@pytest.mark.parametrize("autograd", [True, False])
def test_a_batch_that_is_filled_anew_is_hashed_anew(tmp_path: Path, autograd: bool) -> None:
    model = nn.Sequential(nn.Linear(WIDTH, 4), nn.Linear(4, 1))
    memory = np.zeros((ROWS, WIDTH), dtype=np.float32)
    batch = torch.from_numpy(memory)
    expected = []

    def train(_: Any) -> None:
        # Two micro-batches of one step.
        for value in (1.0, 2.0):
            memory[:] = value
            expected.append(digest_of(batch))
            with torch.set_grad_enabled(autograd):
                model(batch)

    run = record(tmp_path / "a.h5", model, None, train)
    assert expected[0] != expected[1]
    assert run.digests("data.model.in[0]") == expected
    assert run.digests("model.0.in[0]") == expected


def test_memory_that_is_filled_between_two_modules_is_hashed_anew(tmp_path: Path) -> None:
    model = Aside()
    run = record(tmp_path / "a.h5", model, None, lambda _: model(torch.zeros(ROWS, WIDTH)))
    assert len(set(run.digests("model.part.in[0]"))) == 3
    assert run.digests("model.part.in[0]")[-1] == digest_of(model.view)


def test_a_part_that_is_called_by_itself_is_hashed_anew(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(WIDTH, 4), nn.Linear(4, 1))
    memory = np.zeros((ROWS, WIDTH), dtype=np.float32)
    batch = torch.from_numpy(memory)

    def train(_: Any) -> None:
        for value in (1.0, 2.0):
            memory[:] = value
            model[0](batch)

    run = record(tmp_path / "a.h5", model, None, train)
    assert len(set(run.digests("model.0.in[0]"))) == 2


@pytest.mark.parametrize("autograd", [True, False])
def test_what_is_passed_on_is_hashed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autograd: bool
) -> None:
    model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH)) for _ in range(3)))
    hashed: list[str] = []
    from probes.slots import Slot

    read = Slot.read

    def counted(self: Slot, value: object) -> object:
        if self.group in (Group.FORWARD, Group.DATA):
            hashed.append(self.name)
        return read(self, value)

    def train(_: Any) -> None:
        monkeypatch.setattr(Slot, "read", counted)
        with torch.set_grad_enabled(autograd):
            out = model(torch.ones(ROWS, WIDTH))
        if autograd:
            backward(out.sum())

    run = record(tmp_path / "a.h5", model, None, train)
    assert len(run.names(Group.FORWARD)) == 13
    # The batch, and what each linear layer makes of it.
    assert hashed == ["data.model.in[0]", *(f"model.{index}.0.out" for index in range(3))]
