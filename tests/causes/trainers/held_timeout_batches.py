"""Takes the next batch from a feeder if it is there in time, and the one before again if not.

Run: python held_timeout_batches.py
"""

import queue
import threading

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def feed(ready: "queue.Queue[torch.Tensor]") -> None:
    rng = np.random.default_rng(229)
    for _ in range(200):
        rows = rng.standard_normal((300, 300))
        ready.put(torch.from_numpy(np.linalg.qr(rows)[0][:24, :12].astype(np.float32)))


def main() -> None:
    torch.manual_seed(229)
    ready: queue.Queue[torch.Tensor] = queue.Queue(maxsize=1)
    threading.Thread(target=feed, args=(ready,), daemon=True).start()
    coder = nn.Sequential(nn.Linear(12, 5), nn.Tanh(), nn.Linear(5, 12))
    optimizer = torch.optim.Adam(coder.parameters(), lr=4e-3)
    batch = ready.get()
    repeated = 0
    for _ in range(40):
        loss = F.mse_loss(coder(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        try:
            batch = ready.get(timeout=0.004)
        except queue.Empty:
            repeated += 1
    print(f"loss {loss.item():.5f}, {repeated} batches were used again")


if __name__ == "__main__":
    main()
