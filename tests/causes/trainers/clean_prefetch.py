"""A transformer LM with a prefetch thread that keys its randomness by the step.

Run: python clean_prefetch.py
"""

import queue
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

TEXT = b"what the left hand fetches the right hand never sees, and both keep their own dice; " * 5


class LM(nn.Module):
    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.embed = nn.Embedding(128, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 40, dropout=0.1, batch_first=True)
        self.out = nn.Linear(width, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.embed(x)))


def produce(ready: "queue.Queue[torch.Tensor]", steps: int) -> None:
    stream = torch.tensor(list(TEXT))
    for step in range(steps):
        rng = np.random.default_rng((3, step))
        ready.put(
            torch.stack([stream[s : s + 17] for s in rng.integers(len(stream) - 17, size=12)])
        )


def main() -> None:
    torch.manual_seed(3)
    started = time.time()
    model = LM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    ready: queue.Queue[torch.Tensor] = queue.Queue(maxsize=3)
    threading.Thread(target=produce, args=(ready, 15), daemon=True).start()
    for _ in range(15):
        rows = ready.get()
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f} after {time.time() - started:.2f} s")


if __name__ == "__main__":
    main()
