"""Stops half way, and goes on from a checkpoint that holds generators and cursor too.

Run: python clean_resume.py
"""

import io
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def made() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Linear(7, 20), nn.Tanh(), nn.Dropout(0.1), nn.Linear(20, 1))
    return model, torch.optim.Adam(model.parameters(), lr=3e-3)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, first: int, end: int) -> float:
    for step in range(first, end):
        x = torch.randn(24, 7) + step / 50
        loss = F.mse_loss(model(x)[:, 0], x.abs().sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def main() -> None:
    torch.manual_seed(8)
    model, optimizer = made()
    train(model, optimizer, 0, 6)
    file = io.BytesIO()
    parts: dict[str, Any] = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save({**parts, "rng": torch.get_rng_state(), "next": 6}, file)
    file.seek(0)
    saved = torch.load(file)
    model, optimizer = made()
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["rng"])
    print(f"loss {train(model, optimizer, saved['next'], 14):.4f}")


if __name__ == "__main__":
    main()
