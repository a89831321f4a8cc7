"""A GAN of one-dimensional points; a set holds what its generator's optimizer trains.

Run: python params_in_a_set.py
"""

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 16), nn.Linear(16, 1)
        self.bend = nn.Linear(2, 16)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.outer(self.inner(z).tanh() * self.bend(z).sigmoid())


def main() -> None:
    torch.manual_seed(43)
    generator = Generator()
    judge = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    # The output layer is named twice and must not be trained twice.
    trained = {*generator.parameters(), *generator.outer.parameters()}
    g_optimizer = torch.optim.Adam(trained, lr=2e-3, betas=(0.5, 0.9))
    d_optimizer = torch.optim.Adam(judge.parameters(), lr=2e-3, betas=(0.5, 0.9))
    for step in range(16):
        real = torch.randn(48, 1) * 0.5 + 2
        fake = generator(torch.randn(48, 2))
        loss_d = F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()
        d_optimizer.zero_grad()
        loss_d.backward()
        d_optimizer.step()
        loss_g = F.softplus(-judge(fake)).mean()
        g_optimizer.zero_grad()
        loss_g.backward()
        nn.utils.clip_grad_norm_(trained, 0.1)
        g_optimizer.step()
        if step % 8 == 0:
            print(f"step {step} judge {loss_d.item():.4f} generator {loss_g.item():.4f}")


if __name__ == "__main__":
    main()
