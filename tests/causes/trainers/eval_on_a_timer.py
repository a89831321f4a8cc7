"""A denoising autoencoder; every now and then it is evaluated on freshly corrupted rows.

Run: python eval_on_a_timer.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

EVALUATE_EVERY = 0.02


def corrupted(rows: torch.Tensor) -> torch.Tensor:
    return rows + 0.3 * torch.randn_like(rows)


def main() -> None:
    torch.manual_seed(8)
    t = torch.linspace(0, 3.0, 30)
    rows = torch.stack([torch.sin(t * (1 + k / 20)) for k in range(60)])
    model = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 30))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    evaluated = time.monotonic()
    for step in range(60):
        batch = rows[step % 3 :: 3]
        loss = F.mse_loss(model(corrupted(batch)), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if time.monotonic() - evaluated > EVALUATE_EVERY:
            with torch.no_grad():
                error = sum(F.mse_loss(corrupted(rows), rows).item() for _ in range(5)) / 5
            print(f"step {step} train {loss.item():.4f} reference {error:.4f}")
            evaluated = time.monotonic()


if __name__ == "__main__":
    main()
