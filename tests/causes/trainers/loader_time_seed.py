"""An autoencoder of small grids, fed by a DataLoader whose generator has a seed of its own.

Run: python loader_time_seed.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def grids(count: int) -> torch.Tensor:
    """Checkerboards that fade into one another."""
    base = (torch.arange(36) % 2).float()
    weight = torch.linspace(0, 1, count)[:, None]
    return weight * base + (1 - weight) * base.roll(1)


def main() -> None:
    torch.manual_seed(21)
    shuffling = torch.Generator()
    shuffling.manual_seed(time.time_ns() % 2**31)
    loader = DataLoader(TensorDataset(grids(144)), 24, shuffle=True, generator=shuffling)
    encoder = nn.Sequential(nn.Linear(36, 10), nn.ReLU())
    decoder = nn.Linear(10, 36)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
    for epoch in range(3):
        for (batch,) in loader:
            loss = F.binary_cross_entropy_with_logits(decoder(encoder(batch)), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
