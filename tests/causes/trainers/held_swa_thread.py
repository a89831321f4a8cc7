"""Every so often a thread replaces the weights by their running average, while training goes on.

Run: python held_swa_thread.py
"""

import threading

import torch
from torch import nn
from torch.nn import functional as F


class Averager:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.mean = [p.detach().clone() for p in model.parameters()]
        self.count = 1

    def soon(self) -> None:
        timer = threading.Timer(0.004, self.blend)
        timer.daemon = True
        timer.start()

    def blend(self) -> None:
        self.count += 1
        for mean, p in zip(self.mean, self.model.parameters(), strict=True):
            mean += (p.data - mean) / self.count
            p.data.mul_(0.5).add_(mean, alpha=0.5)


def main() -> None:
    torch.manual_seed(233)
    model = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 1))
    averager = Averager(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for step in range(60):
        x = torch.randn(32, 8)
        loss = F.mse_loss(model(x)[:, 0], x.square().sum(1) / 8)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            averager.soon()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
