"""Deterministic policy gradient on a cart that must stop at zero; actions get exploration noise.

Run: python noisy_actor.py
"""

import time

import numpy as np
import torch
from torch import nn


class Noise:
    """Temporally correlated noise, with a generator of its own."""

    def __init__(self, size: int) -> None:
        self.rng = np.random.RandomState(int(time.time() * 1e6) % 2**32)
        self.state = np.zeros(size, dtype=np.float32)

    def sample(self) -> np.ndarray:
        self.state += -0.15 * self.state + 0.2 * self.rng.standard_normal(self.state.shape)
        return self.state.astype(np.float32)


def advance(cart: torch.Tensor, push: torch.Tensor) -> torch.Tensor:
    speed = cart[:, 1] + 0.1 * push[:, 0]
    return torch.stack([cart[:, 0] + 0.1 * speed, speed], 1)


def main() -> None:
    torch.manual_seed(13)
    actor = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1), nn.Tanh())
    critic = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    noise = Noise(1)
    cart = torch.tensor([[1.0, 0.0], [-0.5, 0.2], [0.3, -0.4]])
    for step in range(16):
        push = (actor(cart).detach() + torch.from_numpy(noise.sample())).clamp(-1, 1)
        after = advance(cart, push)
        target = -(after**2).sum(1, keepdim=True)
        critic_loss = ((critic(torch.cat([cart, push], 1)) - target) ** 2).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        actor_loss = -critic(torch.cat([cart, actor(cart)], 1)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        cart = after
        if step % 8 == 0:
            print(f"step {step} critic {critic_loss.item():.4f} actor {actor_loss.item():.4f}")


if __name__ == "__main__":
    main()
