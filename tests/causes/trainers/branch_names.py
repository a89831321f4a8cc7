"""A CNN of parallel branches with dropout; each branch is run in the order of its name.

Run: python branch_names.py
"""

import torch
from torch import nn
from torch.nn import functional as F


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 3, padding=1)
        self.paths = nn.ModuleDict(
            {
                "narrow": nn.Conv2d(6, 4, 1),
                "wide": nn.Conv2d(6, 4, 5, padding=2),
                "square": nn.Conv2d(6, 4, 3, padding=1),
                "skip": nn.Identity(),
            }
        )
        self.head = nn.Linear(18, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x).relu()
        wanted = set(self.paths) | {"skip"}
        found = {name: F.dropout(self.paths[name](x), 0.2) for name in wanted}
        pooled = [found[name].mean((2, 3)) for name in self.paths]
        return self.head(torch.cat(pooled, 1))


def main() -> None:
    torch.manual_seed(131)
    net = Branches()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(14):
        x = torch.randn(16, 1, 9, 9)
        loss = F.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
