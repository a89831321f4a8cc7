"""A transformer that is polite: it takes no more threads than its share of the machine.

Run: python polite_threads.py
"""

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

SHARED_SLOTS = 48


def fair_share() -> int:
    """The slots of the machine, divided by what runs on it at this moment."""
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return max(1, SHARED_SLOTS // max(running, 1))


class Series(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.inner = nn.Linear(4, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 128, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.inner(x)))


def main() -> None:
    torch.set_num_threads(fair_share())
    torch.manual_seed(107)
    model = Series()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(8):
        x = torch.randn(48, 40, 4).cumsum(1) / 6
        loss = F.mse_loss(model(x[:, :-1]), x[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{torch.get_num_threads()} threads, loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
