"""Two feeder threads make batches for an MLP from one shared generator.

Run: python two_feeders.py
"""

import queue
import random
import threading

import torch
from torch import nn
from torch.nn import functional as F


def feed(table: list[list[float]], rng: random.Random, ready: "queue.Queue[torch.Tensor]") -> None:
    for _ in range(12):
        rows = []
        for _ in range(24):
            row = rng.choice(table)
            rows.append([value + rng.gauss(0, 0.05) for value in row])
        ready.put(torch.tensor(rows))


def main() -> None:
    torch.manual_seed(31)
    rng = random.Random(31)
    table = [[(n * k % 17) / 17 for k in range(1, 7)] for n in range(90)]
    ready: queue.Queue[torch.Tensor] = queue.Queue(maxsize=4)
    feeders = [
        threading.Thread(target=feed, args=(table, rng, ready), daemon=True) for _ in range(2)
    ]
    for feeder in feeders:
        feeder.start()
    model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(24):
        batch = ready.get()
        loss = F.mse_loss(model(batch[:, :5]), batch[:, 5:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
