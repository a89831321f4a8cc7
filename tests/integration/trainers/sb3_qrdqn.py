"""sb3-contrib QR-DQN on CartPole-v1 with a replay buffer that mirrors its samples.

CartPole is symmetric: negate the observation, swap the actions, and the transition is still
valid. The buffer mirrors each sampled batch with probability one half, drawn from Python's
``random``. With ``--fault replay-mirror`` the buffer draws from ``random.SystemRandom()``
(taken from the secrets/CSPRNG advice of some linter), which cannot be seeded.
"""

import argparse
import hashlib
import random
from collections.abc import Iterable

import gymnasium as gym
import torch
from sb3_contrib import QRDQN
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class MirrorReplayBuffer(ReplayBuffer):
    """Replay buffer that returns the left-right mirror image of half of its batches."""

    def __init__(self, *args: object, rng: random.Random, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.rng = rng

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> ReplayBufferSamples:
        batch = super().sample(batch_size, env)
        if self.rng.random() < 0.5:
            return batch
        return batch._replace(
            observations=-batch.observations,
            next_observations=-batch.next_observations,
            actions=1 - batch.actions,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "replay-mirror"], default="none")
    args = parser.parse_args()
    learning_starts, train_freq = 100, 4

    rng = random.Random(args.seed) if args.fault == "none" else random.SystemRandom()
    model = QRDQN(
        "MlpPolicy",
        gym.make("CartPole-v1"),
        learning_rate=1e-3,
        buffer_size=1000,
        learning_starts=learning_starts,
        batch_size=32,
        train_freq=train_freq,
        target_update_interval=40,
        exploration_fraction=0.5,
        replay_buffer_class=MirrorReplayBuffer,
        replay_buffer_kwargs={"rng": rng},
        policy_kwargs={"net_arch": [32, 32], "n_quantiles": 10},
        seed=args.seed,
        device="cpu",
    )
    model.learn(total_timesteps=learning_starts + args.steps * train_freq)
    print("params", digest(model.policy.parameters()))


if __name__ == "__main__":
    main()
