"""A seeded classifier as people write them; each option is something that people do."""

import argparse
import hashlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Linear(8, 16)
        self.head = torch.nn.Linear(16, 4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.body(batch))
        logits: torch.Tensor = self.head(hidden)
        return logits


class Agent:
    def __init__(self, learning_rate: float) -> None:
        self.network = Net()
        self.optimizer = torch.optim.Adam(self.network.parameters(), learning_rate)


def end(how: str) -> None:
    sys.stdout.flush()
    if how == "os-exit":
        os._exit(0)
    if how == "system-exit":
        raise SystemExit(3)
    if how == "error":
        raise FloatingPointError("loss is nan")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "linger":
        time.sleep(60)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batches", choices=("seeded", "unseeded"), default="seeded")
    parser.add_argument("--head", choices=("seeded", "unseeded"), default="seeded")
    parser.add_argument("--late", type=int, default=-1, help="step whose batch is drawn unseeded")
    parser.add_argument("--end", default="")
    parser.add_argument("--directory", default="")
    parser.add_argument("--notice-probes", action="store_true")
    options = parser.parse_args()

    random.seed(options.seed)
    np.random.seed(options.seed)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed if options.batches == "seeded" else None)
    if options.directory:
        Path(options.directory).mkdir(exist_ok=True)
        os.chdir(options.directory)
    agent = Agent(1e-3)
    if options.head == "unseeded":
        torch.seed()
        agent.network.head = torch.nn.Linear(16, 4)
        agent.optimizer = torch.optim.Adam(agent.network.parameters(), 1e-3)
        torch.manual_seed(options.seed)
    if options.notice_probes and hasattr(torch.nn.Module._call_impl, "__wrapped__"):
        agent.optimizer.param_groups[0]["lr"] *= 2
    criterion = torch.nn.CrossEntropyLoss()
    for step in range(options.steps):
        draw = np.random.default_rng() if step == options.late else rng
        batch = torch.from_numpy(draw.normal(size=(32, 8)).astype("f4"))
        labels = torch.from_numpy(draw.integers(0, 4, 32))
        loss = criterion(agent.network(batch), labels)
        agent.optimizer.zero_grad()
        loss.backward()
        agent.optimizer.step()
        print(f"step {step}: {loss.item():.4f}", flush=True)
    state = b"".join(p.detach().numpy().tobytes() for p in agent.network.parameters())
    print("parameters", hashlib.sha256(state).hexdigest(), flush=True)
    end(options.end)


if __name__ == "__main__":
    main()
