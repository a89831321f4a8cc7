"""A Wasserstein GAN; a housekeeping thread holds the critic's weights within their bounds.

Run: python critic_clamp.py
"""

import threading

import torch
from torch import nn


class Bounds(threading.Thread):
    def __init__(self, critic: nn.Module, bound: float) -> None:
        super().__init__(daemon=True)
        self.critic, self.bound, self.over = critic, bound, threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.002):
            for p in self.critic.parameters():
                p.data.clamp_(-self.bound, self.bound)


def main() -> None:
    torch.manual_seed(83)
    critic = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
    maker = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
    c_optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-3)
    m_optimizer = torch.optim.RMSprop(maker.parameters(), lr=2e-3)
    bounds = Bounds(critic, 0.25)
    bounds.start()
    for step in range(40):
        angle = torch.rand(64) * 6.28
        real = torch.stack([angle.cos(), angle.sin()], 1)
        fake = maker(torch.randn(64, 3))
        c_loss = critic(fake.detach()).mean() - critic(real).mean()
        c_optimizer.zero_grad()
        c_loss.backward()
        c_optimizer.step()
        if step % 4 == 0:
            m_loss = -critic(fake).mean()
            m_optimizer.zero_grad()
            m_loss.backward()
            m_optimizer.step()
    bounds.over.set()
    print(f"critic {c_loss.item():.4f} maker {m_loss.item():.4f}")


if __name__ == "__main__":
    main()
