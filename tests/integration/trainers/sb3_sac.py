"""Stable-Baselines3 SAC on Pendulum-v1 with tiny networks.

The script copies a few transitions of a "demonstration" policy into the replay buffer before
training. With ``--fault demo-reset`` the environment that records the demonstrations is reset
without a seed, so the demonstrations start from another state in each run.
"""

import argparse
import hashlib
from collections.abc import Iterable

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import SAC


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def add_demonstrations(model: SAC, count: int, seed: int | None) -> None:
    """Fill the replay buffer with transitions of a hand-written swing-up controller."""
    env = gym.make("Pendulum-v1")
    obs, _ = env.reset(seed=seed)
    for _ in range(count):
        torque = np.clip(np.array([2.0 * np.sign(obs[2])], np.float32), -2.0, 2.0)
        next_obs, reward, _, truncated, _ = env.step(torque)
        model.replay_buffer.add(
            obs[None],
            next_obs[None],
            model.policy.scale_action(torque)[None],
            np.array([reward]),
            np.array([truncated]),
            [{"TimeLimit.truncated": truncated}],
        )
        obs = next_obs
        if truncated:
            obs, _ = env.reset()
    env.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "demo-reset"], default="none")
    args = parser.parse_args()
    learning_starts = 20

    model = SAC(
        "MlpPolicy",
        gym.make("Pendulum-v1"),
        learning_rate=1e-3,
        buffer_size=1000,
        learning_starts=learning_starts,
        batch_size=32,
        policy_kwargs={"net_arch": [32, 32]},
        seed=args.seed,
        device="cpu",
    )
    add_demonstrations(model, 64, args.seed if args.fault == "none" else None)
    model.learn(total_timesteps=learning_starts + args.steps)
    print("params", digest(model.policy.parameters()))


if __name__ == "__main__":
    main()
