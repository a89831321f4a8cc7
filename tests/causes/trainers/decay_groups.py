"""A small transformer with decayed and undecayed parameters, sorted out by name.

Run: python decay_groups.py
"""

import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(30, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.tags = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.tags(self.norm(self.layer(self.embed(x))))


def groups(model: nn.Module) -> list[dict[str, object]]:
    named = dict(model.named_parameters())
    decayed = {name for name, p in named.items() if p.ndim > 1}
    plain = named.keys() - decayed
    return [
        {"params": [named[name] for name in decayed], "weight_decay": 0.1},
        {"params": [named[name] for name in plain], "weight_decay": 0.0},
    ]


def main() -> None:
    torch.manual_seed(47)
    model = Tagger()
    optimizer = torch.optim.AdamW(groups(model), lr=2e-3)
    for step in range(14):
        x = torch.randint(30, (20, 12))
        loss = F.cross_entropy(model(x).flatten(0, 1), (x % 3).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
