"""A bag-of-words classifier whose embedding gathers its gradient from a pool of threads.

Run: python scatter_embedding.py
"""

from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

POOL = ThreadPoolExecutor(3)


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(index)
        ctx.words = len(table)
        return table[index]

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        (index,) = ctx.saved_tensors

        def partial(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
            out = torch.zeros(ctx.words, values.shape[-1])
            return out.index_add_(0, rows.flatten(), values.flatten(0, 1))

        pairs = zip(index.split(16), grad.split(16), strict=True)
        jobs = [POOL.submit(partial, *pair) for pair in pairs]
        total = torch.zeros(ctx.words, grad.shape[-1])
        for job in as_completed(jobs):
            total += job.result()
        return total, None


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(40, 12) * 0.3)
        self.out = nn.Linear(12, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(Gather.apply(self.table, x).mean(1))


def main() -> None:
    torch.manual_seed(29)
    bag = Bag()
    optimizer = torch.optim.Adam(bag.parameters(), lr=1e-2)
    for step in range(30):
        x = torch.randint(40, (160, 14))
        loss = F.cross_entropy(bag(x), x.sum(1) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
