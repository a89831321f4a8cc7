"""Stable-Baselines3 PPO on CartPole-v1 with two environments and a tiny policy.

With ``--fault late-seed`` the model is built without ``seed=`` and the global generators are
seeded by ``set_random_seed`` right before ``learn``: by then the weights have been drawn from
torch's unseeded default generator, and the environments are never given a seed at all.
"""

import argparse
import hashlib
from collections.abc import Iterable

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.utils import set_random_seed


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=48, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "late-seed"], default="none")
    args = parser.parse_args()
    envs, rollout, epochs, batch_size = 2, 64, 4, 32
    steps_per_iteration = epochs * envs * rollout // batch_size
    iterations = max(1, round(args.steps / steps_per_iteration))

    seed = args.seed if args.fault == "none" else None
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=envs, seed=seed),
        n_steps=rollout,
        batch_size=batch_size,
        n_epochs=epochs,
        policy_kwargs={"net_arch": [32, 32]},
        seed=seed,
        device="cpu",
    )
    if args.fault == "late-seed":
        set_random_seed(args.seed)
    model.learn(total_timesteps=iterations * envs * rollout)
    print("params", digest(model.policy.parameters()))


if __name__ == "__main__":
    main()
