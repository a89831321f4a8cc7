"""Own training loop with accelerate: a tiny Llama encoder with a classification head.

The data loader shuffles, gradients are accumulated and clipped by the Accelerator. With
``--fault fresh-head`` the head is made in a helper that protects the global stream with
``fork_rng`` but calls ``torch.seed()`` where ``torch.manual_seed(seed)`` was meant.
"""

import argparse
import hashlib
from collections.abc import Iterable

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import LlamaConfig, LlamaModel

VOCAB = 50
WIDTH = 32
CLASSES = 4


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def new_head(seed: int | None) -> nn.Linear:
    """Make the classification head without touching the global random stream."""
    with torch.random.fork_rng():
        if seed is None:
            torch.seed()
        else:
            torch.manual_seed(seed)
        return nn.Linear(WIDTH, CLASSES)


class Classifier(nn.Module):
    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        config = LlamaConfig(
            vocab_size=VOCAB,
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=32,
        )
        self.backbone = LlamaModel(config)
        self.head = head

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.backbone(input_ids=ids).last_hidden_state.mean(dim=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=24, help="optimizer steps")
    parser.add_argument("--fault", choices=["none", "fresh-head"], default="none")
    args = parser.parse_args()

    set_seed(args.seed)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    ids = torch.randint(0, VOCAB, (256, 16))
    labels = ids.sum(dim=1) % CLASSES
    loader = DataLoader(TensorDataset(ids, labels), batch_size=16, shuffle=True, drop_last=True)

    model = Classifier(new_head(None if args.fault == "fresh-head" else args.seed))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    updates = 0
    while updates < args.steps:
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                updates += 1
                if updates % 8 == 0:
                    accelerator.print(f"update {updates} loss {loss.item():.4f}")
                if updates == args.steps:
                    break

    print("params", digest(accelerator.unwrap_model(model).parameters()))


if __name__ == "__main__":
    main()
