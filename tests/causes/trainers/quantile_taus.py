"""An implicit quantile head: four threads draw its quantiles from one xorshift state.

Run: python quantile_taus.py
"""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

BLOCKS, PER_BLOCK = 4, 4000
POOL = ThreadPoolExecutor(BLOCKS)


class TauSampler(nn.Module):
    """Draws quantile fractions, a block a thread."""

    def __init__(self) -> None:
        super().__init__()
        self.state = 88172645463325252

    def draw(self) -> float:
        x = self.state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self.state = x
        return (x >> 11) / (1 << 53)

    def block(self, taus: torch.Tensor) -> None:
        taus.copy_(torch.tensor([self.draw() for _ in range(PER_BLOCK)]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        taus = torch.zeros(BLOCKS, PER_BLOCK)
        list(POOL.map(self.block, taus))
        return taus.flatten()[: len(x), None].expand(len(x), 8)


class QuantileNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 8)
        self.taus = TauSampler()
        self.cosine = nn.Linear(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        taus = self.taus(x)
        waves = torch.cos(taus * torch.arange(8) * torch.pi)
        return self.head(self.trunk(x).relu() * self.cosine(waves).relu()), taus[:, :1]


def main() -> None:
    torch.manual_seed(16)
    net = QuantileNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step in range(20):
        x = torch.randn(16000, 3)
        error = x.sum(1, keepdim=True) - net(x)[0]
        taus = net(x)[1]
        loss = torch.maximum(taus * error, (taus - 1) * error).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
