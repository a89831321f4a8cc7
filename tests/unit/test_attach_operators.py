"""A probed program calls the operators that the bare one calls, in the same order."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import probes
from tests.unit.recorded import backward


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operator that is called while it is on."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.called: list[str] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.called.append(str(function))
        return function(*args, **(kwargs or {}))


def fused_encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def transposing() -> nn.Module:
    class Turn(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.transpose(1, 2).flip(1).transpose(1, 2)[:, ::1]

    return nn.Sequential(nn.Linear(8, 8), Turn(), nn.Linear(8, 8))


def operators(model: nn.Module, *, train: bool) -> list[str]:
    """Operators of one forward, and of a backward and an optimizer step if it trains."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    model.train(train)
    seen = Operators()
    with seen, torch.set_grad_enabled(train):
        loss = model(torch.randn(2, 3, 8)).square().mean()
        if train:
            backward(loss)
            optimizer.step()
    return seen.called


@pytest.mark.parametrize("make", [fused_encoder, transposing])
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("level", ["digest", "full"])
def test_operators_are_the_same(tmp_path: Path, make: Any, train: bool, level: str) -> None:
    model = make()
    bare = operators(copy.deepcopy(model), train=train)
    with probes.attach(model, None, out=tmp_path / "a.h5", level=level) as recording:
        probed = operators(model, train=train)
        assert recording.recorder.begun
    assert probed == bare


def test_the_fused_encoder_is_fused() -> None:
    """Else the test above would hold of any hook."""
    model = fused_encoder()
    fused = "aten._transformer_encoder_layer_fwd.default"
    assert operators(model, train=False).count(fused) == 2
    for module in model.modules():
        module.register_forward_hook(lambda *_: None)
    assert operators(model, train=False).count(fused) == 0
