"""A network with five heads whose losses are computed by threads and added up as they come.

Run: python held_gather_losses.py
"""

import queue
import threading

import torch
from torch import nn
from torch.nn import functional as F


class Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(10, 40)
        self.heads = nn.ModuleList(nn.Linear(40, 8) for _ in range(5))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        features = self.trunk(x).relu()
        return [head(features) for head in self.heads]


def gathered(outputs: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    ready: queue.Queue[torch.Tensor] = queue.Queue()

    def work(number: int) -> None:
        wanted = torch.sin(x[:, :8] * (number + 1))
        ready.put(F.smooth_l1_loss(outputs[number], wanted) * 0.3**number)

    for number in range(len(outputs)):
        threading.Thread(target=work, args=(number,)).start()
    total = ready.get()
    for _ in range(len(outputs) - 1):
        total = total + ready.get()
    return total


def main() -> None:
    torch.manual_seed(281)
    net = Heads()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step in range(40):
        x = torch.randn(64, 10)
        loss = gathered(net(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
