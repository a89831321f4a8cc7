"""A small MLP behind ``torch.compile`` on CPU, fitting a smooth function.

The inputs are padded to a fixed width so that the compiled graph is never retraced. With
``--fault empty-padding`` the padded buffer comes from ``torch.empty`` and its tail is never
written: whatever the allocator left there is fed to the network as features.
"""

import argparse
import hashlib
from collections.abc import Iterable

import torch
from torch import nn

FEATURES = 5
PADDED = 8
BATCH = 64


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def pad(rows: torch.Tensor, fill: bool) -> torch.Tensor:
    """Widen the rows to PADDED columns."""
    make = torch.zeros if fill else torch.empty
    out = make(len(rows), PADDED)
    out[:, : rows.shape[1]] = rows
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--fault", choices=["none", "empty-padding"], default="none")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    table = torch.randn(1024, FEATURES)
    goal = torch.sin(table).sum(dim=1, keepdim=True)

    model = nn.Sequential(nn.Linear(PADDED, 32), nn.Tanh(), nn.Linear(32, 1))
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    for step in range(args.steps):
        rows = torch.randint(0, len(table), (BATCH,))
        inputs = pad(table[rows], fill=args.fault == "none")
        loss = nn.functional.mse_loss(compiled(inputs), goal[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")

    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
