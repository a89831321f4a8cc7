"""Saves snapshots in the background, and goes back to the last one when the loss is not finite.

Run: python resume_torn.py
"""

import copy
import threading

import torch
from torch import nn
from torch.nn import functional as F


class Snapshots(threading.Thread):
    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(daemon=True)
        self.model, self.optimizer = model, optimizer
        self.last = self.taken()
        self.over = threading.Event()

    def taken(self) -> tuple[dict[str, object], dict[str, object]]:
        return copy.deepcopy((self.model.state_dict(), self.optimizer.state_dict()))

    def run(self) -> None:
        while not self.over.wait(0.003):
            self.last = self.taken()


def main() -> None:
    torch.manual_seed(101)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    snapshots = Snapshots(model, optimizer)
    snapshots.start()
    for step in range(40):
        x = torch.randn(48, 6)
        if step == 25:
            x[0, 0] = float("inf")  # a broken sensor
        loss = F.mse_loss(model(x)[:, 0], x.abs().sum(1))
        if not torch.isfinite(loss):
            weights, moments = snapshots.last
            model.load_state_dict(weights)
            optimizer.load_state_dict(moments)
            print(f"step {step} went back to the last snapshot")
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    snapshots.over.set()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
