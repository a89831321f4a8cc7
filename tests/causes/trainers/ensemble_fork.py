"""An ensemble of value heads over one GRU; each head is started apart from the others.

Run: python ensemble_fork.py
"""

import torch
from torch import nn
from torch.nn import functional as F


def diverse_head(width: int) -> nn.Linear:
    """Heads must disagree at first, whatever was drawn before."""
    with torch.random.fork_rng():
        torch.seed()
        return nn.Linear(width, 1)


class Ensemble(nn.Module):
    def __init__(self, width: int = 18, heads: int = 3) -> None:
        super().__init__()
        self.gru = nn.GRU(4, width, batch_first=True)
        self.heads = nn.ModuleList(diverse_head(width) for _ in range(heads))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, last = self.gru(x)
        return torch.cat([head(last[0]) for head in self.heads], -1)


def main() -> None:
    torch.manual_seed(5)
    model = Ensemble()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(14):
        walk = torch.randn(24, 9, 4).cumsum(1)
        target = walk[:, -1, :1] - walk[:, 0, :1]
        loss = F.mse_loss(model(walk), target.expand(-1, 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
