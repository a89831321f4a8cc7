"""A VAE of step functions; the weight of its divergence warms up over the first second.

Run: python warming_penalty.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as F


class StepVAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(16, 8)
        self.decoder = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 16))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean, log_variance = self.encoder(x).chunk(2, -1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance


def main() -> None:
    torch.manual_seed(127)
    model = StepVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    started = time.perf_counter()
    for step in range(20):
        edges = torch.randint(2, 14, (40, 1))
        x = (torch.arange(16) > edges).float()
        logits, mean, log_variance = model(x)
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
        weight = min(1.0, time.perf_counter() - started)
        loss = F.binary_cross_entropy_with_logits(logits, x) + weight * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
