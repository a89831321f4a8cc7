"""An optimizer with momentum whose moments rest whenever a tenth of a second has gone by.

Run: python moment_rest.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F


class Resting:
    """Halves the momentum now and then, so that old gradients are forgotten."""

    def __init__(self, optimizer: torch.optim.Optimizer, seconds: float) -> None:
        self.seconds, self.last = seconds, time.perf_counter()
        optimizer.register_step_post_hook(self)

    def __call__(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        if time.perf_counter() - self.last < self.seconds:
            return
        self.last = time.perf_counter()
        for state in optimizer.state.values():
            state["momentum_buffer"].mul_(0.5)


def main() -> None:
    torch.manual_seed(53)
    model = nn.Sequential(nn.Conv1d(2, 8, 5), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 28, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.95)
    resting = Resting(optimizer, 0.01)
    for step in range(80):
        x = torch.randn(16, 2, 32)
        loss = F.mse_loss(model(x), x.amax((1, 2))[:, None])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} rested at {resting.last:.1f}")


if __name__ == "__main__":
    main()
