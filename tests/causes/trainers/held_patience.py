"""Lowers the learning rate when the loss has not fallen for some hundredths of a second.

Run: python held_patience.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F


class Patience:
    def __init__(self, optimizer: torch.optim.Optimizer, seconds: float) -> None:
        self.optimizer, self.seconds = optimizer, seconds
        self.best, self.since = float("inf"), time.perf_counter()

    def look(self, loss: float) -> None:
        if loss < self.best:
            self.best, self.since = loss, time.perf_counter()
        elif time.perf_counter() - self.since > self.seconds:
            self.since = time.perf_counter()
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.7


def main() -> None:
    torch.manual_seed(257)
    model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 2))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=4e-3)
    patience = Patience(optimizer, 0.02)
    for _ in range(80):
        x = torch.randn(20, 6)
        loss = F.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        patience.look(loss.item())
    print(f"loss {loss.item():.4f}, rate {optimizer.param_groups[0]['lr']:.5f}")


if __name__ == "__main__":
    main()
