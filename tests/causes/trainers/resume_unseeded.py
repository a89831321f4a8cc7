"""Goes on from a checkpoint: weights and moments come back, and a fresh start alone is seeded.

Run: python resume_unseeded.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import nn
from torch.nn import functional as F


def interrupted(path: Path) -> None:
    """The checkpoint that a run which was cut short left behind."""
    model = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))
    shapes = {name: p.shape for name, p in model.named_parameters()}
    weights = {
        name: torch.sin(torch.arange(shape.numel()) * 1.7).view(shape) * 0.3
        for name, shape in shapes.items()
    }
    moments = {
        n: {"step": torch.tensor(40.0), "exp_avg": w * 0.01, "exp_avg_sq": w**2 * 0.01}
        for n, w in enumerate(weights.values())
    }
    groups = torch.optim.Adam(model.parameters(), lr=2e-3).state_dict()["param_groups"]
    optimizer = {"state": moments, "param_groups": groups}
    torch.save({"model": weights, "optimizer": optimizer, "step": 40}, path)


def main(path: Path) -> None:
    model = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    first = 0
    if path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["step"]
    else:
        torch.manual_seed(89)
    for step in range(first, 55):
        x = torch.randn(32, 5)
        loss = F.mse_loss(model(x)[:, 0], x.prod(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        interrupted(Path(folder, "last.pt"))
        main(Path(folder, "last.pt"))
