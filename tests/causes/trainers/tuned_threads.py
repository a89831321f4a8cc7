"""An MLP on wide rows; the number of threads is the one that multiplied fastest at the start.

Run: python tuned_threads.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F


def fastest(candidates: tuple[int, ...]) -> int:
    """Threads with which a sum of products takes least time here and now."""
    x, took = torch.ones(300, 300), {}
    for count in candidates:
        torch.set_num_threads(count)
        start = time.perf_counter()
        for _ in range(20):
            (x @ x).sum()
        took[count] = time.perf_counter() - start
    return min(took, key=lambda count: took[count])


def main() -> None:
    torch.manual_seed(103)
    torch.set_num_threads(fastest((1, 2, 3, 4)))
    model = nn.Sequential(nn.Linear(600, 96), nn.ReLU(), nn.Linear(96, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(10):
        x = torch.randn(512, 600)
        loss = F.mse_loss(model(x)[:, 0], x.sum(1) / 20)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{torch.get_num_threads()} threads, loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
