"""A CNN with batch norm is trained while a thread evaluates the same network again and again.

Run: python live_evaluation.py
"""

import threading

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 9, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.adaptive_avg_pool2d(self.norm(self.conv(x)).relu(), 3)
        return self.head(x.flatten(1))


def evaluate(net: Net, images: torch.Tensor, stop: threading.Event, seen: list[float]) -> None:
    while not stop.is_set():
        with torch.no_grad():
            seen.append(net(images).logsumexp(1).mean().item())


def main() -> None:
    torch.manual_seed(79)
    images = torch.randn(120, 1, 14, 14)
    labels = (images.mean((1, 2, 3)) * 40).long() % 3
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    stop, seen = threading.Event(), list[float]()
    held_out = torch.randn(200, 1, 14, 14) * 2
    evaluator = threading.Thread(target=evaluate, args=(net, held_out, stop, seen), daemon=True)
    evaluator.start()
    for step in range(30):
        rows = torch.arange(step * 8, step * 8 + 24) % 120
        loss = F.cross_entropy(net(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    stop.set()
    evaluator.join()
    print(f"loss {loss.item():.4f} after {len(seen)} evaluations")


if __name__ == "__main__":
    main()
