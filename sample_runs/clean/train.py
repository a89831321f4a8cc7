"""A small character model whose twins are bit-equal: the control sample.

    python train.py                # bare: prints a digest of the final parameters
    python train.py --out a.h5     # the same run, recorded

One seed reaches everything: the parameters and the dropout through torch's generator, the
batches through a generator of their own.
"""

import argparse
import hashlib
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import nn

TEXT = "two runs of one seed are one run, and when they are not somebody loses days. " * 8
CONTEXT, WIDTH, BATCH = 8, 16, 8


class CharModel(nn.Module):
    """One block of causal attention over characters."""

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(characters, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, dropout=0.1, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH))
        self.head = nn.Linear(WIDTH, characters)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(tokens) + self.place(torch.arange(CONTEXT))
        normed = self.norm(hidden)
        mask = torch.triu(torch.ones(CONTEXT, CONTEXT, dtype=torch.bool), diagonal=1)
        attended, _ = self.attention(normed, normed, normed, attn_mask=mask, need_weights=False)
        hidden = hidden + attended
        logits: torch.Tensor = self.head(hidden + self.mlp(hidden))
        return logits


def main() -> None:
    parser = argparse.ArgumentParser(description="A clean trainer, for the demo.")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--out", help="record the run into this file")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    batches = torch.Generator().manual_seed(options.seed + 1)
    alphabet = sorted(set(TEXT))
    encoded = torch.tensor([alphabet.index(character) for character in TEXT])
    model = CharModel(len(alphabet))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    recording = None
    if options.out:
        import probes

        recording = probes.attach(model, optimizer, out=options.out)
        recording.register_generator("batches", batches)
    with recording or nullcontext():
        for step in range(options.steps):
            starts = torch.randint(len(encoded) - CONTEXT - 1, (BATCH,), generator=batches)
            tokens = torch.stack([encoded[start : start + CONTEXT] for start in starts.tolist()])
            targets = torch.stack(
                [encoded[start + 1 : start + CONTEXT + 1] for start in starts.tolist()]
            )
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(f"step {step} loss {loss.item():.6f}")

    content = b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters())
    print(f"parameters {hashlib.sha256(content).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
