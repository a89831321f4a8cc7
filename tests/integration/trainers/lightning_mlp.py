"""Lightning Trainer on an MLP with dropout and named feature columns.

Features come as a table with named columns, as from a CSV file. With ``--fault column-set`` the
columns to use are given as a set and stacked in the order in which the set iterates; string
hashes are salted in each process, so the columns change places.
"""

import argparse
import hashlib
import logging
import warnings
from collections.abc import Iterable

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = {"age", "height", "weight", "income", "distance", "rooms", "floor", "year"}


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def read_table(rows: int, seed: int) -> dict[str, torch.Tensor]:
    """Stand-in for reading a CSV file: one float column per name, in a fixed order."""
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(rows, generator=generator) for name in sorted(COLUMNS)}


class Regressor(L.LightningModule):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, 32),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(32, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        x, y = batch
        return nn.functional.mse_loss(self(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=3e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--fault", choices=["none", "column-set"], default="none")
    args = parser.parse_args()

    warnings.filterwarnings("ignore", module="lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    L.seed_everything(args.seed, verbose=False)
    columns = list(COLUMNS) if args.fault == "column-set" else sorted(COLUMNS)
    table = read_table(512, args.seed)
    inputs = torch.stack([table[name] for name in columns], dim=1)
    targets = (table["rooms"] * table["income"] - table["distance"]).unsqueeze(1)

    model = Regressor(len(columns))
    trainer = L.Trainer(
        max_steps=args.steps,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        gradient_clip_val=1.0,
    )
    loader = DataLoader(TensorDataset(inputs, targets), batch_size=32, shuffle=True)
    trainer.fit(model, loader)
    print("params", digest(model.parameters()))


if __name__ == "__main__":
    main()
