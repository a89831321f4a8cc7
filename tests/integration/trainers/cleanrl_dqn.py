"""Single-file DQN on CartPole-v1: target network, epsilon-greedy, replay buffer in numpy.

The environment is seeded once with ``env.reset(seed=...)``. With ``--fault env-reset`` the
seed argument of that first reset is forgotten, so gymnasium seeds the environment's generator
from the operating system.
"""

import argparse
import hashlib
import random
from collections.abc import Iterable

import gymnasium as gym
import numpy as np
import torch
from torch import nn


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class Replay:
    """Fixed-size ring of transitions; sampling uses numpy's global generator."""

    def __init__(self, capacity: int, width: int) -> None:
        self.obs = np.zeros((capacity, width), np.float32)
        self.next_obs = np.zeros((capacity, width), np.float32)
        self.actions = np.zeros((capacity, 1), np.int64)
        self.rewards = np.zeros(capacity, np.float32)
        self.dones = np.zeros(capacity, np.float32)
        self.count = 0

    def add(
        self, obs: np.ndarray, action: int, reward: float, next_obs: np.ndarray, done: bool
    ) -> None:
        slot = self.count % len(self.rewards)
        self.obs[slot], self.next_obs[slot] = obs, next_obs
        self.actions[slot], self.rewards[slot], self.dones[slot] = action, reward, done
        self.count += 1

    def sample(self, size: int) -> tuple[torch.Tensor, ...]:
        rows = np.random.randint(0, min(self.count, len(self.rewards)), size=size)
        columns = (self.obs, self.actions, self.rewards, self.next_obs, self.dones)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


class QNetwork(nn.Module):
    def __init__(self, width: int, actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, actions)
        )

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return self.network(obs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "env-reset"], default="none")
    args = parser.parse_args()
    warmup, train_every, batch_size, gamma, sync_every = 64, 4, 32, 0.99, 20

    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    env = gym.make("CartPole-v1")
    env.action_space.seed(args.seed)
    width, actions = env.observation_space.shape[0], int(env.action_space.n)
    online, target = QNetwork(width, actions), QNetwork(width, actions)
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = Replay(1000, width)
    total = warmup + args.steps * train_every

    obs, _ = env.reset() if args.fault == "env-reset" else env.reset(seed=args.seed)
    for t in range(1, total + 1):
        epsilon = max(0.05, 1.0 - t / (0.8 * total))
        if random.random() < epsilon:
            action = int(env.action_space.sample())
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        next_obs, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, action, float(reward), next_obs, terminated)
        obs = next_obs
        if terminated or truncated:
            obs, _ = env.reset()

        if t > warmup and t % train_every == 0:
            o, a, r, n, d = replay.sample(batch_size)
            with torch.no_grad():
                goal = r + gamma * target(n).max(dim=1).values * (1 - d)
            loss = nn.functional.mse_loss(online(o).gather(1, a).squeeze(1), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updates = (t - warmup) // train_every
            if updates % sync_every == 0:
                target.load_state_dict(online.state_dict())
                print(f"update {updates} loss {loss.item():.4f}")

    print("params", digest(online.parameters()))


if __name__ == "__main__":
    main()
