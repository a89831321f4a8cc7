"""A GAN with two optimizers and an average of the generator that the main thread keeps.

Run: python clean_gan.py
"""

import copy

import torch
from torch import nn
from torch.nn import functional as F


def main() -> None:
    torch.manual_seed(4)
    generator = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
    judge = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
    average = copy.deepcopy(generator).requires_grad_(False)
    # Deduplicated, and in the order of the model all the same.
    trained = list(dict.fromkeys([*generator.parameters(), *generator[2].parameters()]))
    g_optimizer = torch.optim.Adam(trained, lr=1e-3, betas=(0.5, 0.9))
    d_optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.9))
    for _ in range(15):
        real = torch.randn(40, 2) * torch.tensor([1.0, 0.3])
        fake = generator(torch.randn(40, 3))
        d_loss = F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()
        g_loss = F.softplus(-judge(fake)).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        with torch.no_grad():
            for ours, theirs in zip(average.parameters(), generator.parameters(), strict=True):
                ours.lerp_(theirs, 0.01)
    drift = float(next(average.parameters()).sum())
    print(f"judge {d_loss.item():.4f} generator {g_loss.item():.4f} average {drift:.5f}")


if __name__ == "__main__":
    main()
