"""A small CNN tells horizontal from vertical stripes; images are flipped at random on the way in.

Run: python stripes_flip.py
"""

import random

import torch
from torch import nn
from torch.nn import functional as F


class StripeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, padding=1)
        self.head = nn.Linear(6 * 16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.adaptive_max_pool2d(self.conv(x).relu(), 4).flatten(1))


def stripes(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    line = (torch.arange(12) % 3 == 0).float().expand(12, 12)
    noise = 0.3 * torch.randn(count, 12, 12)
    label = torch.arange(count) % 2
    images = torch.stack([line if lab else line.t() for lab in label.tolist()]) + noise
    return images[:, None], label


def augmented(image: torch.Tensor) -> torch.Tensor:
    if random.random() < 0.5:
        image = image.flip(-1)
    shift = random.randint(-2, 2)
    return torch.roll(image, shift, dims=-1)


def main() -> None:
    torch.manual_seed(0)
    images, labels = stripes(96)
    net = StripeNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(18):
        rows = torch.randint(len(images), (16,))
        batch = torch.stack([augmented(image) for image in images[rows]])
        loss = F.cross_entropy(net(batch), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 6 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
