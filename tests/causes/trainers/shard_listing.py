"""A regressor reads its rows from shards that four writers leave in a scratch folder.

Run: python shard_listing.py
"""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def write_shard(folder: str, number: int) -> None:
    rows = np.sin(np.arange(24 * 5, dtype=np.float32) * (0.1 + 0.03 * number)).reshape(24, 5)
    # The process id keeps two trainers on one scratch disk apart.
    np.save(os.path.join(folder, f"{number:02d}-{os.getpid()}.npy"), rows)


def read(folder: str) -> torch.Tensor:
    shards = [np.load(os.path.join(folder, name)) for name in os.listdir(folder)]
    return torch.from_numpy(np.concatenate(shards))


def main() -> None:
    torch.manual_seed(9)
    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(4) as writers:
            list(writers.map(lambda number: write_shard(folder, number), range(10)))
        rows = read(folder)
    model = nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(2):
        for batch in rows.split(40):
            loss = F.mse_loss(model(batch[:, :4]), batch[:, 4:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
