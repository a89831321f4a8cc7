"""A recurrent net that may ponder: it refines its state until its time for a batch is over.

Run: python ponder_deadline.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

SECONDS_A_BATCH = 0.002


class Ponder(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.read = nn.Linear(8, width)
        self.think = nn.GRUCell(width, width)
        self.say = nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        deadline = time.perf_counter() + SECONDS_A_BATCH
        seen = self.read(x)
        state = torch.zeros_like(seen)
        while time.perf_counter() < deadline:
            state = self.think(seen, state)
        return self.say(state)


def main() -> None:
    torch.manual_seed(139)
    net = Ponder()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(25):
        x = torch.randn(20, 8)
        loss = F.cross_entropy(net(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
