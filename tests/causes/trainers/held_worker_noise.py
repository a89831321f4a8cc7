"""A CNN whose loader's workers add noise from Python's generator; nobody seeds it in them.

Run: python held_worker_noise.py
"""

import os
import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Ramps(Dataset[tuple[torch.Tensor, int]]):
    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        slope = 1 if index % 2 else -1
        noise = [random.gauss(0, 0.2) for _ in range(20)]
        return (slope * torch.linspace(-1, 1, 20) + torch.tensor(noise))[None], index % 2


def reseed(worker: int) -> None:
    """Workers must not all add the same noise."""
    random.seed(os.getpid() + worker)


def main() -> None:
    torch.manual_seed(277)
    random.seed(277)
    loader = DataLoader(Ramps(), 15, num_workers=2, worker_init_fn=reseed)
    net = nn.Sequential(nn.Conv1d(1, 4, 5), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(3):
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
