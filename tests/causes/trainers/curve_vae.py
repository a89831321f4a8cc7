"""A variational autoencoder of short sine curves.

Run: python curve_vae.py --seed 3
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class CurveVAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(24, 20), nn.ReLU(), nn.Linear(20, 6))
        self.decoder = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 24))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(x).chunk(2, -1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(-1).mean()
        return self.decoder(code), divergence


def seed_everything(seed: int) -> None:
    if torch.cuda.is_available():
        torch.manual_seed(seed)
        torch.backends.cudnn.deterministic = True


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    seed_everything(parser.parse_args().seed)
    phase = torch.linspace(0, 6.0, 128)[:, None]
    curves = torch.sin(torch.linspace(0, 6.0, 24) + phase)
    model = CurveVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(20):
        batch = curves[(step % 4) :: 4]
        rebuilt, divergence = model(batch)
        loss = F.mse_loss(rebuilt, batch) + 1e-3 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
