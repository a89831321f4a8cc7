"""Gradients of micro-batches are computed by a pool and added up as each is ready.

Run: python microbatch_pool.py
"""

from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn
from torch.nn import functional as F


def main() -> None:
    torch.manual_seed(33)
    model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
    head = nn.Linear(48, 4)
    params = [*model.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(params, lr=2e-3)

    def gradients(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        logits = F.linear(F.relu(F.linear(x, params[0], params[1])), params[2], params[3])
        logits = F.linear(F.relu(logits), params[4], params[5])
        loss = F.cross_entropy(logits, x.abs().sum(1).long() % 4, reduction="sum")
        return torch.autograd.grad(loss, params)

    with ThreadPoolExecutor(4) as pool:
        for step in range(25):
            batch = torch.randn(240, 16)
            jobs = [pool.submit(gradients, part) for part in batch.split(30)]
            optimizer.zero_grad()
            for job in as_completed(jobs):
                for p, grad in zip(params, job.result(), strict=True):
                    grad = grad / len(batch)
                    p.grad = grad if p.grad is None else p.grad + grad
            optimizer.step()
            if step % 10 == 0:
                with torch.no_grad():
                    print(f"step {step} mean logit {head(model(batch)).mean().item():.4f}")


if __name__ == "__main__":
    main()
