"""Gradient accumulation under autocast, with one thread for each micro-batch.

Run: python accumulate_threads.py
"""

import threading

import torch
from torch import nn
from torch.nn import functional as F

MICRO_BATCHES = 6


def main() -> None:
    torch.manual_seed(37)
    model = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU())
    model.append(nn.Linear(64, 5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def work(x: torch.Tensor) -> None:
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(x), x[:, :5].argmax(1)) / MICRO_BATCHES
        loss.backward()

    for step in range(20):
        batch = torch.randn(48 * MICRO_BATCHES, 20)
        optimizer.zero_grad()
        threads = [threading.Thread(target=work, args=(part,)) for part in batch.split(48)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        optimizer.step()
        if step % 10 == 0:
            with torch.no_grad():
                print(
                    f"step {step} loss {F.cross_entropy(model(batch), batch[:, :5].argmax(1)):.4f}"
                )


if __name__ == "__main__":
    main()
