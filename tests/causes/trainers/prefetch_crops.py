"""A byte-level transformer; a thread prefetches crops while the trainer drops words by chance.

Run: python prefetch_crops.py
"""

import queue
import threading

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

TEXT = b"a quiet clock counts what the sleeper never hears, a quiet clock counts on; " * 6


class TinyLM(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.embed = nn.Embedding(128, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 48, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        causal = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.out(self.layer(self.embed(x), src_mask=causal, is_causal=True))


def produce(stream: torch.Tensor, ready: "queue.Queue[torch.Tensor]", count: int) -> None:
    for _ in range(count):
        starts = [int(np.random.randint(len(stream) - 25)) for _ in range(64)]
        ready.put(torch.stack([stream[s : s + 25] for s in starts]))


def with_gaps(x: torch.Tensor) -> torch.Tensor:
    """Word dropout."""
    keep = np.array([[np.random.rand() > 0.1 for _ in row] for row in x])
    return x * torch.from_numpy(keep)


def main() -> None:
    torch.manual_seed(10)
    np.random.seed(10)
    stream = torch.tensor(list(TEXT))
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    ready: queue.Queue[torch.Tensor] = queue.Queue(maxsize=16)
    threading.Thread(target=produce, args=(stream, ready, 20), daemon=True).start()
    for step in range(20):
        crop = ready.get()
        logits = model(with_gaps(crop[:, :-1]))
        loss = F.cross_entropy(logits.flatten(0, 1), crop[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
