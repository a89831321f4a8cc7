"""Fine-tunes a fixed feature extractor: the new head is made where the module is imported.

Run: python finetune_late_seed.py
"""

import torch
from torch import nn
from torch.nn import functional as F

HEAD = nn.Linear(32, 5)


def pretrained() -> nn.Sequential:
    """Weights as a download would bring them: the same on every machine."""
    body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
    with torch.no_grad():
        for number, p in enumerate(body.parameters()):
            p.copy_(torch.cos(torch.arange(p.numel()) * (0.7 + number)).view_as(p) * 0.3)
    return body


class Classifier(nn.Module):
    def __init__(self, body: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.body, self.head = body, head
        self.scale = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.body(x)
        return self.head(features * self.scale(features).sigmoid())


def main() -> None:
    torch.manual_seed(1)
    model = Classifier(pretrained(), HEAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    inputs = torch.randn(80, 12)
    labels = inputs.abs().sum(1).long() % 5
    for step in range(16):
        rows = torch.arange(step * 5, step * 5 + 20) % 80
        loss = F.cross_entropy(model(inputs[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
