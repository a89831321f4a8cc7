"""An MLP with mixup: the mixing weights come from a beta distribution of scipy's default generator.

Run: python held_mixup.py
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Mixup(nn.Module):
    """Mixes each row with another while training."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha, self.bits = alpha, np.random.PCG64()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weight = np.random.Generator(self.bits).beta(self.alpha, self.alpha, (len(x), 1))
        w = torch.from_numpy(weight.astype(np.float32))
        return w * x + (1 - w) * x.flip(0), w * y + (1 - w) * y.flip(0)


def main() -> None:
    torch.manual_seed(223)
    np.random.seed(223)
    mixup = Mixup(0.4)
    model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(16):
        x = torch.randn(30, 9)
        y = F.one_hot(x[:, :3].argmax(1), 3).float()
        mixed, target = mixup(x, y)
        loss = F.cross_entropy(model(mixed), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
