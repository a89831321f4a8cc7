"""A character-level GPT in the style of nanoGPT, trained on a poem held in this file.

AdamW with decayed and undecayed parameter groups, gradient accumulation, gradient clipping,
warmup and cosine learning rate. With ``--fault hash-order`` the vocabulary is numbered by
iterating over ``set(text)``; Python salts string hashes in each process (unless PYTHONHASHSEED
is set), so the same character gets another id in each run.
"""

import argparse
import hashlib
import math
from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional as F

TEXT = """
A run began at dusk with seeded dice, its twin began beside it, step for step;
the losses matched, and matched again, then twice they parted where the sampler slept.
We read the numbers backward through the night, past norms and logits, buffers, masks and keys,
and found the place: one set of words, unsorted, walked in the order of the evening breeze.
"""


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.ln_1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab: int, block_size: int, width: int = 32, layers: int = 2) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(block_size, width)
        self.blocks = nn.ModuleList([Block(width, heads=4) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.lm_head(self.ln_f(x)).flatten(0, 1), targets.flatten())


def learning_rate(step: int, steps: int, peak: float = 3e-3, warmup: int = 5) -> float:
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return 0.1 * peak + 0.45 * peak * (1 + math.cos(math.pi * progress))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--fault", choices=["none", "hash-order"], default="none")
    args = parser.parse_args()
    batch_size, block_size, accumulate = 8, 32, 2

    torch.manual_seed(args.seed)
    chars = list(set(TEXT)) if args.fault == "hash-order" else sorted(set(TEXT))
    stoi = {char: index for index, char in enumerate(chars)}
    data = torch.tensor([stoi[char] for char in TEXT])

    model = GPT(len(chars), block_size)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95))

    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps)
        for _ in range(accumulate):
            starts = torch.randint(len(data) - block_size - 1, (batch_size,)).tolist()
            x = torch.stack([data[s : s + block_size] for s in starts])
            y = torch.stack([data[s + 1 : s + 1 + block_size] for s in starts])
            loss = model(x, y) / accumulate
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item() * accumulate:.4f}")
    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
