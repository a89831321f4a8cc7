"""A GRU reads logged sensor rows and predicts the next; gates get a learned offset.

Run: python reward_bias_empty.py
"""

import torch
from torch import nn
from torch.nn import functional as F

WIDTH = 150


class GatedGRU(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, WIDTH)
        self.offset = nn.Parameter(torch.empty(WIDTH))
        self.out = nn.Linear(WIDTH, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = x.new_zeros(len(x), WIDTH)
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
        return self.out(state + self.offset.clamp(-1, 1))


def parsed(text: str) -> torch.Tensor:
    """Rows of numbers from text, as a log holds them."""
    table = [[float(word) for word in line.split()] for line in text.splitlines()]
    columns = [list(column) for column in zip(*table, strict=True)]
    return torch.tensor(columns).t().contiguous()


def main() -> None:
    torch.manual_seed(2)
    rows = [" ".join(f"{((i * 7 + c * 3) % 13) / 13:.3f}" for c in range(6)) for i in range(80)]
    log = parsed("\n".join(rows))
    model = GatedGRU()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    windows = log.unfold(0, 8, 1).transpose(1, 2)
    for step in range(12):
        batch = windows[step * 4 : step * 4 + 16]
        loss = F.mse_loss(model(batch[:, :-1]), batch[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
