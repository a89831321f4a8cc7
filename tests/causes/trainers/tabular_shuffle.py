"""Classifies points on two rings with an MLP; rows are shuffled with numpy in every epoch.

Run: python tabular_shuffle.py
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def rings(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    angle = torch.linspace(0, 12.0, count)
    label = torch.arange(count) % 2
    radius = 1.0 + label
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


def main() -> None:
    torch.manual_seed(7)
    x, y = rings(192)
    model = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        order = np.random.permutation(len(x))
        total = 0.0
        for rows in np.array_split(order, 6):
            index = torch.from_numpy(rows)
            loss = F.cross_entropy(model(x[index]), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / 6:.4f}")


if __name__ == "__main__":
    main()
