"""Actor-critic on a pendulum whose generator is seeded; two environments take turns.

Run: python clean_actor.py
"""

import gymnasium
import torch
from torch import nn


def main() -> None:
    torch.manual_seed(9)
    envs = [gymnasium.make("Pendulum-v1") for _ in range(2)]
    states = [torch.tensor(env.reset(seed=9 + n)[0]) for n, env in enumerate(envs)]
    actor = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
    critic = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=2e-3)
    for step in range(24):
        env, state = envs[step % 2], states[step % 2]
        policy = torch.distributions.Normal(actor(state), 0.5)
        action = policy.sample()
        seen, reward, _, cut, _ = env.step(action.numpy())
        after = torch.tensor(seen)
        advantage = float(reward) / 10 + 0.95 * critic(after).detach() - critic(state)
        loss = (advantage**2 - policy.log_prob(action) * advantage.detach()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        states[step % 2] = torch.tensor(env.reset()[0]) if cut else after
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
