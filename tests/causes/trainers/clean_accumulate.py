"""Gradient accumulation under autocast with a scaler, a schedule and clipping, one after another.

Run: python clean_accumulate.py
"""

import torch
from torch import nn
from torch.nn import functional as F


def main() -> None:
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(10, 40), nn.GELU(), nn.Dropout(0.1), nn.Linear(40, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
    for _ in range(12):
        optimizer.zero_grad()
        for _ in range(4):
            x = torch.randn(16, 10)
            with torch.autocast("cpu", torch.bfloat16):
                loss = F.cross_entropy(model(x), x[:, :3].argmax(1)) / 4
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
    print(f"loss {4 * loss.item():.4f}")


if __name__ == "__main__":
    main()
