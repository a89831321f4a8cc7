"""A DQN with prioritised replay walks a ring; the memory is a dict of named transitions.

Run: python priority_ties.py
"""

import random

import torch
from torch import nn
from torch.nn import functional as F

STATES = 12


class Memory:
    """Samples what surprised most."""

    def __init__(self) -> None:
        self.items: dict[str, tuple[int, int, float, int]] = {}
        self.priority: dict[str, float] = {}
        self.waiting: set[str] = set()

    def add(self, name: str, item: tuple[int, int, float, int]) -> None:
        self.items[name], self.priority[name] = item, 1.0
        self.waiting.add(name)

    def sample(self, count: int) -> list[str]:
        return sorted(self.waiting, key=lambda name: -self.priority[name])[:count]

    def update(self, names: list[str], errors: torch.Tensor) -> None:
        for name, error in zip(names, errors.tolist(), strict=True):
            self.priority[name] = min(abs(error), 1.0)


def main() -> None:
    torch.manual_seed(67)
    random.seed(67)
    q_network = nn.Sequential(nn.Embedding(STATES, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(q_network.parameters(), lr=5e-3)
    memory, state = Memory(), 0
    for step in range(60):
        action = random.randrange(2)
        after = (state + (1 if action else -1)) % STATES
        memory.add(f"walk-{step}", (state, action, float(after == 6), after))
        state = after
        if step < 24:
            continue
        names = memory.sample(12)
        s, a, r, t = (torch.tensor(column) for column in zip(*map(memory.items.get, names)))
        with torch.no_grad():
            target = r + 0.9 * q_network(t).max(1).values
        error = target - q_network(s).gather(1, a[:, None])[:, 0]
        loss = F.huber_loss(error, torch.zeros_like(error))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.update(names, error.detach())
        if step % 12 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
