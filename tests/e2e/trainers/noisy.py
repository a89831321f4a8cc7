"""A small regression whose option says where chance comes in; all else is seeded."""

import argparse
import hashlib
import os
import random
from typing import Any

import numpy as np
import torch
from torch import nn


def dither(like: torch.Tensor) -> torch.Tensor:
    """Rounding noise from the system's entropy."""
    raw = np.frombuffer(os.urandom(4 * like.numel()), dtype=np.uint32)
    return torch.from_numpy((raw / 2**32).astype(np.float32)).view(like.shape) * 1e-5


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, where: str) -> torch.Tensor:
        ctx.where = where
        return x + dither(x) if where == "forward" else x * 1.0

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, None]:
        (grad,) = grads
        if ctx.where == "backward":
            noise = dither(grad)
            return grad + noise, None
        return grad, None


class Mixer(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.inner = nn.Linear(16, 16)
        self.own = torch.Generator().manual_seed(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.fault == "draw":
            self.own.seed()
            keep = torch.empty_like(x).bernoulli_(0.9, generator=self.own)
            x = x * keep
        mixed: torch.Tensor = self.inner(torch.tanh(x))
        rounded: torch.Tensor = Rounded.apply(mixed, self.fault)  # type: ignore[no-untyped-call]
        return rounded


class Net(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.mixer = Mixer(fault)
        self.head = nn.Linear(16, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(torch.relu(self.mixer(self.first(x))))
        return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="none")
    parser.add_argument("--from-step", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    random.seed(0)
    net = Net("none")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    labels = np.random.default_rng(None if options.fault == "targets" else 5)
    for step in range(4):
        net.mixer.fault = options.fault if step >= options.from_step else "none"
        x = torch.randn(24, 4)
        y = torch.from_numpy(labels.normal(size=(24, 1)).astype("f4"))
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    content = b"".join(p.detach().numpy().tobytes() for p in net.parameters())
    print("parameters", hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    main()
