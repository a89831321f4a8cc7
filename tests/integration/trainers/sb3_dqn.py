"""Stable-Baselines3 DQN on CartPole-v1 with a tiny Q-network.

``seed=`` seeds SB3, numpy, torch and the environment. With ``--fault sensor-noise`` a wrapper
adds noise to the observations (a common robustness trick) from a ``np.random.default_rng()`` of
its own, which neither ``seed=`` nor ``env.seed`` reaches.
"""

import argparse
import hashlib
from collections.abc import Iterable

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class SensorNoise(gym.ObservationWrapper):
    """Adds small Gaussian noise to each observation."""

    def __init__(self, env: gym.Env, rng: np.random.Generator, scale: float = 0.01) -> None:
        super().__init__(env)
        self.rng = rng
        self.scale = scale

    def observation(self, observation: np.ndarray) -> np.ndarray:
        noise = self.rng.normal(0.0, self.scale, size=observation.shape)
        return (observation + noise).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=50, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "sensor-noise"], default="none")
    args = parser.parse_args()
    learning_starts, train_freq = 100, 4

    rng = np.random.default_rng(args.seed if args.fault == "none" else None)
    model = DQN(
        "MlpPolicy",
        SensorNoise(gym.make("CartPole-v1"), rng),
        learning_rate=1e-3,
        buffer_size=1000,
        learning_starts=learning_starts,
        batch_size=32,
        train_freq=train_freq,
        target_update_interval=40,
        exploration_fraction=0.5,
        policy_kwargs={"net_arch": [32, 32]},
        seed=args.seed,
        device="cpu",
    )
    model.learn(total_timesteps=learning_starts + args.steps * train_freq)
    print("params", digest(model.policy.parameters()))


if __name__ == "__main__":
    main()
