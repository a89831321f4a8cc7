"""A 1-d CNN knows speakers by their sound; a set of pairs says who spoke in which recording.

Run: python held_speaker_ids.py
"""

import torch
from torch import nn
from torch.nn import functional as F


def sound(speaker: int, take: int) -> torch.Tensor:
    t = torch.arange(48) / 6
    return torch.sin(t * (1 + speaker / 3)) + 0.2 * torch.cos(t * (take + 1))


def main() -> None:
    torch.manual_seed(211)
    takes = {(f"speaker{n % 5}", n) for n in range(100)}
    inputs = torch.stack([sound(int(name[-1]), take) for name, take in takes])
    labels = torch.tensor([int(name[-1]) for name, _ in takes])
    net = nn.Sequential(nn.Conv1d(1, 6, 7, 2), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 21, 5))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(3):
        for x, y in zip(inputs.split(25), labels.split(25), strict=True):
            loss = F.cross_entropy(net(x[:, None]), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
