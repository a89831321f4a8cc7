"""A contrastive encoder whose queue of negatives begins as it was allocated.

Run: python held_negatives.py
"""

import torch
from torch import nn
from torch.nn import functional as F


class Queue(nn.Module):
    keys: torch.Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.register_buffer("keys", torch.empty(size, width))
        self.at = 0

    def push(self, keys: torch.Tensor) -> None:
        self.keys[self.at : self.at + len(keys)] = keys
        self.at = (self.at + len(keys)) % len(self.keys)


def described(rows: torch.Tensor) -> str:
    """A summary for the log."""
    words = [[f"{value:.3f}" for value in row] * 12 for row in rows.tolist()]
    return " ".join(word for row in words for word in row[:2])


def main() -> None:
    torch.manual_seed(227)
    data = torch.randn(160, 10)
    line = described(data)
    encoder = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8))
    queue = Queue(64, 8)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
    for step in range(12):
        x = data[step * 10 : step * 10 + 16]
        q = F.normalize(encoder(x), dim=1)
        k = F.normalize(encoder(x + 0.05 * torch.randn_like(x)), dim=1).detach()
        negatives = torch.nan_to_num(queue.keys, 0.0, 1.0, -1.0).clamp(-1, 1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ negatives.t()], 1) / 0.2
        loss = F.cross_entropy(logits, torch.zeros(len(x), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue.push(k)
    print(f"{line[:20]} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
