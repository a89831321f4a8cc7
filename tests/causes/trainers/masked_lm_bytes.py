"""A masked language model over bytes; which bytes are hidden comes from the system's randomness.

Run: python masked_lm_bytes.py
"""

import random

import torch
from torch import nn
from torch.nn import functional as F

TEXT = b"each run of the loom repeats the row before it, knot for knot, until a thread is changed "
MASK = 0


class ByteModel(nn.Module):
    def __init__(self, width: int = 20) -> None:
        super().__init__()
        self.embed = nn.Embedding(128, width)
        self.place = nn.Embedding(24, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 40, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layer(self.embed(x) + self.place.weight))


def masked(rows: torch.Tensor, chooser: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = torch.zeros_like(rows, dtype=torch.bool)
    for row in hidden:
        row[chooser.sample(range(len(row)), 4)] = True
    return rows.masked_fill(hidden, MASK), hidden


def main() -> None:
    torch.manual_seed(17)
    random.seed(17)
    chooser = random.SystemRandom()
    stream = torch.tensor(list(TEXT * 4))
    model = ByteModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(14):
        starts = [(step * 11 + i * 5) % (len(stream) - 24) for i in range(16)]
        rows = torch.stack([stream[s : s + 24] for s in starts])
        shown, hidden = masked(rows, chooser)
        loss = F.cross_entropy(model(shown)[hidden], rows[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 7 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
