"""Clips gradients by a norm of its own, whose squares a pool adds up as they are ready.

Run: python held_clip_sum.py
"""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import torch
from torch import nn
from torch.nn import functional as F

POOL = ThreadPoolExecutor(4)


def total_norm(model: nn.Module) -> torch.Tensor:
    pending: set[Future[torch.Tensor]] = {
        POOL.submit(lambda g: g.pow(2).sum(), p.grad)
        for p in model.parameters()
        if p.grad is not None
    }
    total = torch.zeros(())
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for job in done:
            total = total + job.result()
    return total.sqrt()


def main() -> None:
    torch.manual_seed(241)
    layers: list[nn.Module] = []
    for _ in range(6):
        layers += [nn.Linear(48, 48), nn.Tanh()]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(25):
        x = torch.randn(64, 48)
        loss = F.mse_loss(model(x), x.roll(1, 1))
        optimizer.zero_grad()
        loss.backward()
        scale = 0.05 / (total_norm(model) + 1e-6)
        for p in model.parameters():
            if p.grad is not None:
                p.grad.mul_(scale)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
