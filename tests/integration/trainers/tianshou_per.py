"""Double DQN on CartPole-v1 with tianshou's PrioritizedReplayBuffer.

The buffer samples with numpy's global generator; priorities are the absolute TD errors. With
``--fault unseeded-numpy`` the seeding block covers ``random``, torch and the environment but
forgets ``np.random.seed``, of which no line of this script shows that it matters.
"""

import argparse
import hashlib
import random
from collections.abc import Iterable

import gymnasium as gym
import numpy as np
import torch
from tianshou.data import Batch, PrioritizedReplayBuffer
from torch import nn


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def q_network(width: int, actions: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, actions)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=50, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "unseeded-numpy"], default="none")
    args = parser.parse_args()
    warmup, train_every, batch_size, gamma, sync_every = 100, 3, 32, 0.99, 10

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    if args.fault == "none":
        np.random.seed(args.seed)

    env = gym.make("CartPole-v1")
    env.action_space.seed(args.seed)
    width, actions = env.observation_space.shape[0], int(env.action_space.n)
    online, target = q_network(width, actions), q_network(width, actions)
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    replay = PrioritizedReplayBuffer(1000, alpha=0.6, beta=0.4)
    total = warmup + args.steps * train_every

    obs, _ = env.reset(seed=args.seed)
    for t in range(1, total + 1):
        if random.random() < max(0.05, 1.0 - t / total):
            action = int(env.action_space.sample())
        else:
            with torch.no_grad():
                action = int(online(torch.from_numpy(obs)).argmax())
        next_obs, reward, terminated, truncated, _ = env.step(action)
        replay.add(
            Batch(
                obs=obs,
                act=action,
                rew=float(reward),
                terminated=terminated,
                truncated=truncated,
                obs_next=next_obs,
                info={},
            )
        )
        obs = next_obs
        if terminated or truncated:
            obs, _ = env.reset()
        if t <= warmup or t % train_every:
            continue

        batch, rows = replay.sample(batch_size)
        weight = torch.as_tensor(batch.weight, dtype=torch.float32)
        o, n = torch.from_numpy(batch.obs), torch.from_numpy(batch.obs_next)
        a = torch.from_numpy(batch.act).unsqueeze(1)
        with torch.no_grad():
            best = online(n).argmax(dim=1, keepdim=True)
            alive = torch.from_numpy(1.0 - batch.terminated.astype(np.float32))
            reward_t = torch.as_tensor(batch.rew, dtype=torch.float32)
            goal = reward_t + gamma * alive * target(n).gather(1, best).squeeze(1)
        error = goal - online(o).gather(1, a).squeeze(1)
        loss = weight * nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")
        loss = loss.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        replay.update_weight(rows, error.detach())
        updates = (t - warmup + train_every - 1) // train_every
        if updates % sync_every == 0:
            target.load_state_dict(online.state_dict())
            print(f"update {updates} loss {loss.item():.4f}")

    print("params", digest(online.parameters()))


if __name__ == "__main__":
    main()
