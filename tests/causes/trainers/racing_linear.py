"""A linear layer of its own making: its backward adds row blocks up in threads, first come first.

Run: python racing_linear.py
"""

import threading
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class BlockLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight = ctx.saved_tensors
        total, lock = torch.zeros_like(weight), threading.Lock()

        def add(rows: slice) -> None:
            part = grad[rows].t() @ x[rows]
            with lock:
                total.add_(part)

        blocks = [slice(start, start + 64) for start in range(0, len(x), 64)]
        workers = [threading.Thread(target=add, args=(block,)) for block in blocks]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return grad @ weight, total


class Wide(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return BlockLinear.apply(x, self.weight)


def main() -> None:
    torch.manual_seed(23)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), Wide(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(25):
        x = torch.randn(768, 10)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
