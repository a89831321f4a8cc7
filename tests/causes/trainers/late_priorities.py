"""Prioritised replay whose priorities are set by a thread of its own, so that training never waits.

Run: python late_priorities.py
"""

import queue
import threading

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Replay:
    def __init__(self, size: int) -> None:
        t = np.arange(size, dtype=np.float32)
        self.states = np.stack([np.sin(t * k / 9) for k in (1, 2, 3)], 1)
        self.returns = np.cos(t / 5).astype(np.float32)
        self.priority = np.ones(size)
        self.news: queue.Queue[tuple[np.ndarray, np.ndarray]] = queue.Queue()
        threading.Thread(target=self.keep_up, daemon=True).start()

    def keep_up(self) -> None:
        while True:
            rows, errors = self.news.get()
            for row, error in zip(rows, errors, strict=True):
                self.priority[row] = abs(float(error)) ** 0.6 + 1e-3

    def sample(self, rng: np.random.Generator, count: int) -> np.ndarray:
        weights = self.priority.copy()
        return rng.choice(len(weights), count, p=weights / weights.sum())


def main() -> None:
    torch.manual_seed(71)
    rng = np.random.default_rng(71)
    replay = Replay(600)
    critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    for step in range(60):
        rows = replay.sample(rng, 64)
        states, target = torch.from_numpy(replay.states[rows]), replay.returns[rows]
        error = critic(states)[:, 0] - torch.from_numpy(target)
        loss = F.smooth_l1_loss(error, torch.zeros_like(error))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        replay.news.put((rows, error.detach().numpy()))
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
