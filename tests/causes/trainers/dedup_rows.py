"""A regressor of house prices; records that occur twice are dropped before training.

Run: python dedup_rows.py
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def records() -> list[str]:
    lines = []
    for n in range(130):
        rooms, area, age = 1 + n % 6, 30 + (n * 37) % 110, (n * 13) % 70
        lines.append(f"{rooms},{area},{age},{rooms * 20 + area * 2 - age}")
    return lines + lines[10:40]


def table(lines: list[str]) -> torch.Tensor:
    return torch.tensor([[float(word) for word in line.split(",")] for line in lines])


def main() -> None:
    torch.manual_seed(6)
    unique = list(set(records()))
    rows = table(unique)
    inputs, prices = rows[:, :3] / 100, rows[:, 3:] / 300
    loader = DataLoader(TensorDataset(inputs, prices), batch_size=26)
    model = nn.Sequential(nn.Linear(3, 30), nn.ReLU(), nn.Linear(30, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(4):
        for x, y in loader:
            loss = F.smooth_l1_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
