"""Trains on batches of very different cost, and drops those that took too long to prepare.

Run: python slow_batches.py
"""

import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def prepared(number: int) -> torch.Tensor:
    """Smoothed noise; how often it is smoothed differs from batch to batch."""
    rows = np.sin(np.outer(np.arange(64) + number, np.arange(1, 33)))
    for _ in range(40 + (number * 29) % 90):
        rows = (rows + np.roll(rows, 1, 1) * 0.5) / 1.5
    return torch.from_numpy(rows.astype(np.float32))


def main() -> None:
    torch.manual_seed(137)
    model = nn.Sequential(nn.Linear(31, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    times: list[float] = []
    for number in range(80):
        start = time.perf_counter()
        batch = prepared(number)
        times.append(time.perf_counter() - start)
        if times[-1] > 1.25 * sorted(times)[len(times) // 2]:
            continue
        loss = F.mse_loss(model(batch[:, :31]), batch[:, 31:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
