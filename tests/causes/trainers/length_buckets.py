"""A GRU sums up number rows of different length; a sampler hands out one bucket of lengths a batch.

Run: python length_buckets.py
"""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

Row = tuple[torch.Tensor, torch.Tensor]


class Rows(Dataset[Row]):
    def __init__(self, count: int) -> None:
        lengths = [3 + (n * 7) % 5 for n in range(count)]
        self.rows = [torch.sin(torch.arange(n, n + k) * 1.3) for n, k in enumerate(lengths)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index][:, None], self.rows[index].sum()


class Buckets(Sampler[list[int]]):
    """Rows of one length, which are known by their label."""

    def __init__(self, data: Rows) -> None:
        self.label = {index: f"length-{len(row)}" for index, row in enumerate(data.rows)}

    def __iter__(self) -> Iterator[list[int]]:
        for wanted in set(self.label.values()):
            yield [index for index, label in self.label.items() if label == wanted]


def main() -> None:
    torch.manual_seed(61)
    rows = Rows(90)
    loader = DataLoader(rows, batch_sampler=Buckets(rows))
    gru, out = nn.GRU(1, 16, batch_first=True), nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*gru.parameters(), *out.parameters()], lr=5e-3)
    for epoch in range(4):
        for x, y in loader:
            loss = F.mse_loss(out(gru(x)[1][0])[:, 0], y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
