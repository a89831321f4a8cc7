"""Actor-critic with a bonus for rarely seen cells; an episode begins at a random free cell.

Run: python held_curiosity.py
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn


class Maze(gymnasium.Env[np.ndarray, int]):
    observation_space = gymnasium.spaces.Box(0, 5, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(4)
    moves = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(**options)
        self.cell = np.random.default_rng().integers(0, 6, 2)
        self.time = 0
        return self.cell.astype(np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.cell = np.clip(self.cell + self.moves[action], 0, 5)
        self.time += 1
        found = bool((self.cell == 5).all())
        return self.cell.astype(np.float32), float(found), found, self.time > 20, {}


def main() -> None:
    torch.manual_seed(239)
    env, visits = Maze(), np.ones((6, 6))
    actor = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 4))
    critic = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
    seen, _ = env.reset(seed=239)
    for step in range(40):
        state = torch.from_numpy(seen)
        policy = torch.distributions.Categorical(logits=actor(state))
        action = policy.sample()
        seen, reward, ended, cut, _ = env.step(int(action))
        row, column = seen.astype(int)
        visits[row, column] += 1
        bonus = reward + 0.2 / visits[row, column] ** 0.5
        advantage = bonus + 0.9 * critic(torch.from_numpy(seen)).detach() - critic(state)
        loss = (advantage**2).sum() - policy.log_prob(action) * advantage.detach().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if ended or cut:
            seen, _ = env.reset()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
