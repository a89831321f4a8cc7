"""A regression that was seeded with care, except for its batches; it knows nothing of probes.

`torch.manual_seed` makes model and data the same in every run. The rows of each batch come from
numpy, whose `default_rng()` without an argument takes its seed from the operating system.
"""

import argparse

import numpy as np
import torch
from torch import nn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--fixed", action="store_true", help="seed the batches too")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    inputs = torch.randn(256, 8)
    targets = inputs @ torch.randn(8, 1)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    rng = np.random.default_rng(options.seed) if options.fixed else np.random.default_rng()
    for _ in range(options.steps):
        rows = torch.from_numpy(rng.integers(0, len(inputs), size=32))
        loss = nn.functional.mse_loss(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
