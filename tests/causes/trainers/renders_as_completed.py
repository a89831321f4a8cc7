"""A CNN counts blobs; pictures are rendered by a pool of threads and taken as they get ready.

Run: python renders_as_completed.py
"""

from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def rendered(number: int) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(number)
    count = int(rng.integers(1, 5))
    y, x = np.mgrid[0:64, 0:64]
    image = np.zeros((64, 64))
    for cy, cx in rng.uniform(4, 60, (count * 6, 2)):
        image += np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 20)
    return image[::4, ::4].astype(np.float32), count - 1


def main() -> None:
    torch.manual_seed(12)
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten())
    head = nn.Linear(72, 4)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=3e-3)
    with ThreadPoolExecutor(4) as pool:
        for step in range(12):
            jobs = [pool.submit(rendered, step * 16 + n) for n in range(16)]
            images, counts = zip(*(job.result() for job in as_completed(jobs)), strict=True)
            batch = torch.from_numpy(np.stack(images))[:, None]
            loss = F.cross_entropy(head(net(batch)), torch.tensor(counts))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 6 == 0:
                print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
