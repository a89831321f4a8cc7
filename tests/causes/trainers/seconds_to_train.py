"""A contrastive autoencoder is trained for a fixed time, as one does on a rented machine.

Run: python seconds_to_train.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F

SECONDS = 0.25


def main() -> None:
    torch.manual_seed(113)
    encoder = nn.Sequential(nn.Linear(18, 32), nn.ReLU(), nn.Linear(32, 6))
    decoder = nn.Linear(6, 18)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    end, step = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        x = torch.randn(32, 1) * torch.cos(torch.arange(18) / 3)
        one, two = encoder(x + 0.1 * torch.randn_like(x)), encoder(x)
        loss = F.mse_loss(decoder(two), x) + 0.1 * (1 - F.cosine_similarity(one, two)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    print(f"{step} steps, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
