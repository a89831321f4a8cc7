"""A DQN keeps a pole upright; episodes begin wherever the simulator likes.

Run: python balance_reset.py
"""

import random
from collections import deque

import gymnasium
import torch
from torch import nn
from torch.nn import functional as F


def main() -> None:
    torch.manual_seed(1)
    random.seed(1)
    env = gymnasium.make("CartPole-v1")
    q_network = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(q_network.parameters(), lr=1e-3)
    memory: deque[tuple[torch.Tensor, int, float, torch.Tensor, bool]] = deque(maxlen=500)
    seen, _ = env.reset()
    state = torch.tensor(seen)
    for step in range(60):
        if random.random() < 0.3:
            action = random.randrange(2)
        else:
            action = int(q_network(state).argmax())
        seen, reward, ended, cut, _ = env.step(action)
        after = torch.tensor(seen)
        memory.append((state, action, float(reward), after, bool(ended)))
        state = torch.tensor(env.reset()[0]) if ended or cut else after
        if len(memory) < 16:
            continue
        states, actions, rewards, afters, ends = zip(*random.sample(memory, 16), strict=True)
        with torch.no_grad():
            best = q_network(torch.stack(afters)).max(1).values
            target = torch.tensor(rewards) + 0.98 * best * ~torch.tensor(ends)
        chosen = q_network(torch.stack(states)).gather(1, torch.tensor(actions)[:, None])[:, 0]
        loss = F.smooth_l1_loss(chosen, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
