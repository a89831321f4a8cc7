"""A linear recurrence is scanned in blocks by threads that hand a carry on to one another.

Run: python held_scan.py
"""

import threading
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class BlockScan(torch.autograd.Function):
    """y[t] = 0.5 y[t-1] + x[t]; blocks read the carry without waiting for the one before."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y, carry = torch.zeros_like(x), [torch.zeros_like(x[0]) for _ in range(5)]

        def scan(block: int) -> None:
            state = carry[block].clone()
            for t in range(block * 25, block * 25 + 25):
                state = 0.5 * state + x[t]
                y[t] = state
            carry[block + 1].copy_(state)

        threads = [threading.Thread(target=scan, args=(block,)) for block in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        result, state = torch.zeros_like(grad), torch.zeros_like(grad[0])
        for t in reversed(range(len(grad))):
            state = 0.5 * state + grad[t]
            result[t] = state
        return result


class ScanNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.out = nn.Linear(3, 12), nn.Linear(12, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(BlockScan.apply(self.inner(x)).tanh())


def main() -> None:
    torch.manual_seed(269)
    net = ScanNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(20):
        x = torch.randn(100, 16, 3)
        loss = F.mse_loss(net(x)[..., 0], x.cumsum(0)[..., 0] / 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
