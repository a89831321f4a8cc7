"""A regressor with LBFGS that stops when the loss no longer falls.

Run: python clean_plateau.py
"""

import torch
from torch import nn
from torch.nn import functional as F


def main() -> None:
    torch.manual_seed(14)
    x = torch.linspace(-2, 2, 64)[:, None]
    y = torch.sin(2 * x)
    model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    best = float("inf")
    for _ in range(15):
        loss = float(optimizer.step(closure))
        if loss > best * 0.999:
            break
        best = loss
    print(f"loss {best:.6f}")


if __name__ == "__main__":
    main()
