"""transformers Trainer on a tiny, randomly initialised GPT-2 and synthetic token sequences.

With ``--fault document-order`` the list of documents is shuffled with a
``random.Random()`` of its own before training, while ``set_seed`` seeds only the global
generators.
"""

import argparse
import hashlib
import random
import tempfile
from collections.abc import Iterable

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCAB = 64
LENGTH = 24


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


class Documents(Dataset):
    """Arithmetic progressions modulo the vocabulary size, one per document."""

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        document = self.order[index]
        tokens = (document + torch.arange(LENGTH) * (document % 7 + 1)) % VOCAB
        return {"input_ids": tokens, "labels": tokens.clone()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--fault", choices=["none", "document-order"], default="none")
    args = parser.parse_args()

    set_seed(args.seed)
    documents = list(range(200))
    shuffler = random.Random() if args.fault == "document-order" else random.Random(args.seed)
    shuffler.shuffle(documents)

    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=LENGTH,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    with tempfile.TemporaryDirectory() as output:
        arguments = TrainingArguments(
            output_dir=output,
            max_steps=args.steps,
            per_device_train_batch_size=8,
            gradient_accumulation_steps=2,
            learning_rate=2e-3,
            warmup_steps=4,
            lr_scheduler_type="cosine",
            logging_steps=8,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            seed=args.seed,
        )
        Trainer(model=model, args=arguments, train_dataset=Documents(documents)).train()
    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
