"""Trains a small autoencoder, and goes on where the last run in this folder ended.

Run: python resume_left_over.py
"""

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

CHECKPOINT = Path("autoencoder.pt")


def main() -> None:
    torch.manual_seed(97)
    model = nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 20))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    if CHECKPOINT.exists():
        saved = torch.load(CHECKPOINT)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    t = torch.linspace(0, 3, 20)
    for step in range(20):
        x = torch.sin(t * (1 + torch.rand(24, 1)))
        loss = F.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, CHECKPOINT
            )
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
