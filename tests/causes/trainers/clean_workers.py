"""A CNN fed by two worker processes that augment with their own, seeded, generators.

Run: python clean_workers.py
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset[tuple[torch.Tensor, int]]):
    def __len__(self) -> int:
        return 96

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        noise = torch.from_numpy(np.random.randn(24).astype(np.float32))
        return torch.sin(torch.arange(24) * (0.2 + index % 3))[None] + 0.1 * noise, index % 3


def seed_worker(number: int) -> None:
    np.random.seed(torch.initial_seed() % 2**32)


def main() -> None:
    torch.manual_seed(1)
    shuffling = torch.Generator().manual_seed(1)
    loader = DataLoader(
        Waves(), 16, True, num_workers=2, generator=shuffling, worker_init_fn=seed_worker
    )
    net = nn.Sequential(nn.Conv1d(1, 6, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten())
    head = nn.Linear(24, 3)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
    for _ in range(2):
        for x, y in loader:
            loss = F.cross_entropy(head(net(x)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
