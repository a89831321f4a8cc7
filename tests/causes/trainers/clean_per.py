"""A DQN with prioritised replay in a gymnasium environment; everything that draws is seeded.

Run: python clean_per.py
"""

import gymnasium
import numpy as np
import torch
from torch import nn


def main() -> None:
    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    env = gymnasium.make("CartPole-v1")
    env.action_space.seed(2)
    q_network = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(q_network.parameters(), lr=1e-3)
    memory: list[tuple[np.ndarray, int, float, np.ndarray, bool]] = []
    priority: list[float] = []
    state, _ = env.reset(seed=2)
    for step in range(60):
        action = int(env.action_space.sample())
        after, reward, ended, cut, _ = env.step(action)
        memory.append((state, action, reward, after, ended))
        priority.append(max(priority, default=1.0))
        state = env.reset()[0] if ended or cut else after
        if step < 20:
            continue
        p = np.array(priority) / sum(priority)
        rows = rng.choice(len(memory), 16, p=p)
        s, a, r, t, e = (np.stack([memory[row][k] for row in rows]) for k in range(5))
        with torch.no_grad():
            best = q_network(torch.from_numpy(t)).max(1).values * torch.from_numpy(~e)
        chosen = q_network(torch.from_numpy(s)).gather(1, torch.from_numpy(a)[:, None])[:, 0]
        error = torch.from_numpy(r).float() + 0.98 * best - chosen
        loss = (error**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for row, value in zip(rows, error.detach().abs().tolist(), strict=True):
            priority[row] = value + 1e-3
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
