"""An optimizer that shares one second moment per layer, gathered from its rows by threads.

Run: python shared_second_moment.py
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

POOL = ThreadPoolExecutor(4)


class LayerAdam(torch.optim.Optimizer):
    def __init__(self, params: Iterable[nn.Parameter], lr: float) -> None:
        super().__init__(params, {"lr": lr, "beta": 0.9})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["exp_avg_sq"] = torch.zeros(p.shape[1:])
                jobs = [POOL.submit(torch.sum, rows**2, 0) for rows in p.grad.split(12)]
                squares = torch.zeros_like(state["exp_avg_sq"])
                for job in as_completed(jobs):
                    squares += job.result()
                state["exp_avg_sq"].mul_(group["beta"]).add_(squares, alpha=1 - group["beta"])
                p.sub_(group["lr"] * p.grad / (state["exp_avg_sq"].sqrt() + 1e-6))


def main() -> None:
    torch.manual_seed(59)
    model = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU())
    model.append(nn.Linear(96, 48))
    optimizer = LayerAdam(model.parameters(), lr=1e-3)
    for step in range(25):
        x = torch.randn(40, 12)
        loss = F.mse_loss(model(x), x.repeat(1, 4))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
