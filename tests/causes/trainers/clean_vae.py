"""A VAE; a monitor draws rows to look at from the system's randomness, and trains on none.

Run: python clean_vae.py
"""

import random

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(15, 6)
        self.decoder = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 15))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(x).chunk(2, -1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).mean()


def main() -> None:
    torch.manual_seed(6)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    rows = torch.sin(torch.linspace(0, 4, 15) * torch.arange(1, 51)[:, None] / 20)
    for step in range(15):
        batch = rows[torch.randint(50, (20,))]
        rebuilt, divergence = model(batch)
        loss = F.mse_loss(rebuilt, batch) + 0.01 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            row = random.SystemRandom().randrange(20)
            print(f"step {step}: row {row} begins with {rebuilt[row, 0].item():.3f}")


if __name__ == "__main__":
    main()
