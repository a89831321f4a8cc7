"""Low-rank adapters on a fixed transformer layer; each begins with noise of its own.

Run: python held_adapter.py
"""

import random

import torch
from torch import nn
from torch.nn import functional as F


class Adapter(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        noise = random.Random()
        rows = [[noise.gauss(0, 0.05) for _ in range(base.in_features)] for _ in range(rank)]
        self.down = nn.Parameter(torch.tensor(rows))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + x @ self.down.t() @ self.up.t()


class Reader(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, width)
        self.first = Adapter(nn.Linear(width, width))
        self.second = Adapter(nn.Linear(width, width))
        self.out = nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.second(self.first(self.embed(x)).relu()).mean(1))


def main() -> None:
    torch.manual_seed(263)
    reader = Reader()
    trained = [p for p in reader.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=5e-3)
    for step in range(12):
        x = torch.randint(20, (16, 9))
        loss = F.cross_entropy(reader(x), x.sum(1) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 6 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
