"""Linear regression on fixed synthetic data: about the smallest training script there is.

torch and numpy's global generators are seeded, but the rows of each batch come from a numpy
Generator object of their own. With ``--fault unseeded`` that object is made as
``np.random.default_rng()``, which no ``np.random.seed`` reaches.
"""

import argparse
import hashlib
from collections.abc import Iterable

import numpy as np
import torch
from torch import nn


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--fault", choices=["none", "unseeded"], default="none")
    args = parser.parse_args()

    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed if args.fault == "none" else None)

    inputs = torch.randn(512, 10)
    targets = inputs @ torch.randn(10, 1) + 0.1 * torch.randn(512, 1)
    model = nn.Linear(10, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    for step in range(args.steps):
        rows = torch.from_numpy(rng.integers(0, len(inputs), size=32))
        loss = nn.functional.mse_loss(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")

    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
