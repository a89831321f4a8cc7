"""Attention pooling over long sequences: chunks are weighed in threads and summed as they come.

Run: python pooled_attention.py
"""

from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn
from torch.nn import functional as F

POOL = ThreadPoolExecutor(4)


class ChunkedPool(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = nn.Parameter(torch.randn(width) * 0.1)

    def part(self, chunk: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weight = (chunk @ self.score).exp()
        return (chunk * weight[..., None]).sum(1), weight.sum(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        jobs = [POOL.submit(self.part, chunk) for chunk in x.split(40, dim=1)]
        top = torch.zeros(len(x), x.shape[-1])
        bottom = torch.zeros(len(x))
        for job in as_completed(jobs):
            value, weight = job.result()
            top, bottom = top + value, bottom + weight
        return top / bottom[:, None]


class SequenceNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(6, 16)
        self.pool = ChunkedPool(16)
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.pool(self.inner(x).tanh()))


def main() -> None:
    torch.manual_seed(19)
    net = SequenceNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step in range(20):
        x = torch.randn(16, 320, 6)
        loss = F.cross_entropy(net(x), (x.sum((1, 2)) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
