"""Starts from the newest of some checkpoints that several writers left at about the same time.

Run: python held_checkpoint_choice.py
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F


def candidate(path: Path, number: int) -> None:
    """One of the models of an earlier search."""
    generator = torch.Generator().manual_seed(number)
    torch.save(
        {
            "0.weight": torch.randn(24, 7, generator=generator) / 3,
            "0.bias": torch.zeros(24),
            "2.weight": torch.randn(1, 24, generator=generator) / 5,
            "2.bias": torch.zeros(1),
            "moments": torch.randn(300_000, generator=generator),
        },
        path / f"candidate{number}.pt",
    )


def main() -> None:
    torch.manual_seed(271)
    model = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: candidate(path, number), range(16)))
        newest = max(path.glob("*.pt"), key=lambda file: file.stat().st_mtime_ns)
        saved = torch.load(newest)
        del saved["moments"]
        model.load_state_dict(saved)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(15):
        x = torch.randn(24, 7)
        loss = F.mse_loss(model(x)[:, 0], x.amax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
