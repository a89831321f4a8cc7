"""A CNN names shapes; its classes are numbered from the names found in the annotations.

Run: python class_names.py
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

NAMES = ("cross", "frame", "bar", "dot", "stair", "comb")


def picture(name: str, shift: int) -> torch.Tensor:
    image = torch.zeros(10, 10)
    at = 2 + shift % 5
    if name in ("cross", "bar", "comb"):
        image[at] = 1
    if name in ("cross", "frame"):
        image[:, at] = 1
    if name in ("frame", "comb"):
        image[0:10:2, 1] = 1
    if name in ("dot", "stair"):
        image[at, at] = 1
    if name == "stair":
        image += torch.eye(10)
    return image


def main() -> None:
    torch.manual_seed(14)
    annotations = [(NAMES[n % 6], n) for n in range(120)]
    found = {name for name, _ in annotations}
    number = {name: index for index, name in enumerate(found)}
    images = torch.stack([picture(name, n) for name, n in annotations])[:, None]
    labels = torch.tensor([number[name] for name, _ in annotations])
    loader = DataLoader(
        TensorDataset(images, labels),
        20,
        shuffle=True,
        generator=torch.Generator().manual_seed(14),
    )
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    head = nn.Linear(96, len(number))
    optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05, momentum=0.8)
    for _ in range(3):
        for x, y in loader:
            loss = F.cross_entropy(head(net(x)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
