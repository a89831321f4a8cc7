"""Actor-critic learns to hold a glider's height in an environment whose gusts follow the time.

Run: python gusty_glider.py
"""

import math
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn


class Glider(gymnasium.Env[np.ndarray, np.ndarray]):
    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(**options)
        self.height, self.speed, self.time = float(self.np_random.uniform(-1, 1)), 0.0, 0
        return self.seen(), {}

    def seen(self) -> np.ndarray:
        return np.array([self.height, self.speed], dtype=np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        gust = 0.3 * math.sin(7 * time.time())
        self.speed += 0.1 * (float(action[0]) + gust)
        self.height += 0.1 * self.speed
        self.time += 1
        return self.seen(), -(self.height**2), False, self.time >= 25, {}


def main() -> None:
    torch.manual_seed(2)
    env = Glider()
    actor = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 1))
    critic = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
    state = torch.tensor(env.reset(seed=2)[0])
    for step in range(40):
        policy = torch.distributions.Normal(actor(state), 0.3)
        action = policy.sample()
        seen, reward, _, cut, _ = env.step(action.clamp(-1, 1).numpy())
        after = torch.tensor(seen)
        advantage = reward + 0.95 * critic(after).detach() - critic(state)
        loss = (advantage**2 - policy.log_prob(action) * advantage.detach()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state = torch.tensor(env.reset()[0]) if cut else after
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
