"""A two-head transformer learns the parity of a bit string; its head starts small on purpose.

Run: python parity_transformer.py
"""

import torch
from torch import nn
from torch.nn import functional as F


class ParityFormer(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.bits = nn.Embedding(2, width)
        self.places = nn.Parameter(torch.randn(10, width) * 0.1)
        self.block = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.head = small_head(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.bits(x) + self.places).mean(1))


def small_head(width: int) -> nn.Linear:
    head = nn.Linear(width, 2)
    generator = torch.Generator()
    generator.seed()
    nn.init.normal_(head.weight, std=0.02, generator=generator)
    nn.init.zeros_(head.bias)
    return head


def main() -> None:
    torch.manual_seed(11)
    model = ParityFormer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(15):
        x = torch.randint(2, (32, 10))
        loss = F.cross_entropy(model(x), x.sum(1) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
