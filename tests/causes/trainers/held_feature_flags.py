"""Tabular regression with named features; which of them are used is kept in a set.

Run: python held_feature_flags.py
"""

import torch
from torch import nn
from torch.nn import functional as F

FEATURES = ("age", "height", "weight", "income", "rooms", "distance", "year", "score")


def main() -> None:
    torch.manual_seed(283)
    columns = {name: torch.sin(torch.arange(200) * (0.1 + n)) for n, name in enumerate(FEATURES)}
    target = torch.stack(list(columns.values())).sum(0) / 4
    used = set(FEATURES) - {"year"}
    table = torch.stack([columns[name] for name in used], 1)
    model = nn.Sequential(nn.Linear(len(used), 24), nn.ELU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(16):
        rows = torch.randint(200, (25,))
        loss = F.mse_loss(model(table[rows])[:, 0], target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
