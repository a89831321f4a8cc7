"""What a small trainer of the neutrality test is, and the parts that several of them use."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

Models = dict[str, nn.Module]


@dataclass
class Job:
    """A trainer: what it trains, and how to do one step."""

    models: Models
    optimizers: list[torch.optim.Optimizer]
    step: Callable[[int], None]
    watched: list[tuple[object, str]] = field(default_factory=list)
    extra: dict[str, nn.Module] = field(default_factory=dict)
    """Modules that are trained or made along the way and count in the comparison."""


Make = Callable[[], Job]
TRAINERS: dict[str, Make] = {}


def trainer(make: Make) -> Make:
    """Register a trainer under its function name."""
    TRAINERS[make.__name__] = make
    return make


def simple(model: nn.Module, optimizer: torch.optim.Optimizer, shape: tuple[int, ...]) -> Job:
    """One batch of normal noise a step, mean square of the output as the loss."""

    def step(_: int) -> None:
        optimizer.zero_grad()
        loss = model(torch.randn(shape)).square().mean()
        loss.backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


class Block(nn.Module):
    """A transformer block with dropout."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))
        self.drop = nn.Dropout(0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(rows, length, 3, 2, width // 2)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.proj(y.transpose(1, 2).reshape(x.shape)))
        return x + self.drop(self.mlp(self.norm2(x)))  # type: ignore[no-any-return]
