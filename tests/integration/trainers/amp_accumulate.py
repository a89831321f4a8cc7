"""A small convolutional classifier trained in bfloat16 autocast with gradient accumulation.

Loss scaling goes through ``torch.amp.GradScaler("cpu")``. Images are augmented on the fly
(flip, shift, brightness) with a numpy generator. With ``--fault time-seeded`` the augmentation
generator is seeded from the clock, as people do to get "fresh" augmentation in each run.
"""

import argparse
import hashlib
import time
from collections.abc import Iterable

import numpy as np
import torch
from torch import nn

CLASSES = 5
SIZE = 12
MICRO_BATCH = 16


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class Augment:
    """Random flip, shift and brightness for a batch of images."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, images: np.ndarray) -> torch.Tensor:
        out = images.copy()
        for index in range(len(out)):
            if self.rng.random() < 0.5:
                out[index] = out[index, :, :, ::-1]
            shift = int(self.rng.integers(-2, 3))
            out[index] = np.roll(out[index], shift, axis=2)
        gain = self.rng.uniform(0.8, 1.2, size=(len(out), 1, 1, 1)).astype(np.float32)
        return torch.from_numpy(out * gain)


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(16, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(images).flatten(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30, help="optimizer steps")
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--fault", choices=["none", "time-seeded"], default="none")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    data_rng = np.random.default_rng(args.seed)
    labels = data_rng.integers(0, CLASSES, size=400)
    prototypes = data_rng.normal(size=(CLASSES, 1, SIZE, SIZE))
    images = prototypes[labels] + 0.5 * data_rng.normal(size=(400, 1, SIZE, SIZE))
    images = images.astype(np.float32)

    augment = Augment(time.time_ns() if args.fault == "time-seeded" else args.seed)
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)

    for step in range(args.steps):
        total = 0.0
        for _ in range(args.accumulate):
            rows = torch.randint(0, len(images), (MICRO_BATCH,)).numpy()
            inputs = augment(images[rows])
            targets = torch.from_numpy(labels[rows])
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(inputs), targets) / args.accumulate
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        if step % 10 == 0:
            print(f"step {step} loss {total:.4f} scale {scaler.get_scale():.0f}")

    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
