"""A GRU is trained within a time budget: the learning rate falls as the budget is used up.

Run: python budget_schedule.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

BUDGET_SECONDS = 60.0


def main() -> None:
    torch.manual_seed(109)
    started = time.monotonic()
    gru, out = nn.GRU(3, 20, batch_first=True), nn.Linear(20, 3)
    optimizer = torch.optim.Adam([*gru.parameters(), *out.parameters()], lr=5e-3)
    for step in range(20):
        used = min((time.monotonic() - started) / BUDGET_SECONDS, 0.95)
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * (1 - used)
        x = torch.randn(24, 10, 3).cumsum(1)
        loss = F.smooth_l1_loss(out(gru(x[:, :-1])[0]), x[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
