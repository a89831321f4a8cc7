"""A GAN on a ring of eight Gaussians: two networks, two optimizers, plain torch only.

Real points come from a sampler that has its own ``torch.Generator``, so that changing the
noise does not change the data. With ``--fault generator-seed`` that generator is initialised
with ``Generator.seed()``, which draws a fresh seed from the operating system, where
``manual_seed`` was meant.
"""

import argparse
import hashlib
import math
from collections.abc import Iterable, Iterator

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

LATENT = 8
BATCH = 64


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def mlp(inputs: int, outputs: int, hidden: int = 64) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(hidden, outputs),
    )


def ring(count: int) -> torch.Tensor:
    """Points around eight centres on the unit circle."""
    angle = torch.randint(0, 8, (count,)) * (2 * math.pi / 8)
    centres = torch.stack([angle.cos(), angle.sin()], dim=1)
    return centres + 0.05 * torch.randn(count, 2)


def batches(data: torch.Tensor, generator: torch.Generator) -> Iterator[torch.Tensor]:
    """Endless random batches of real points."""
    dataset = TensorDataset(data)
    sampler = RandomSampler(dataset, generator=generator)
    loader = DataLoader(dataset, batch_size=BATCH, sampler=sampler, drop_last=True)
    while True:
        for (batch,) in loader:
            yield batch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--fault", choices=["none", "generator-seed"], default="none")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    order = torch.Generator()
    if args.fault == "generator-seed":
        order.seed()
    else:
        order.manual_seed(args.seed)

    generator = mlp(LATENT, 2)
    discriminator = mlp(2, 1)
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    real_label = torch.ones(BATCH, 1)
    fake_label = torch.zeros(BATCH, 1)
    stream = batches(ring(2048), order)

    for step in range(args.steps):
        real = next(stream)
        fake = generator(torch.randn(BATCH, LATENT))

        loss_d = bce(discriminator(real), real_label)
        loss_d = loss_d + bce(discriminator(fake.detach()), fake_label)
        opt_d.zero_grad(set_to_none=True)
        loss_d.backward()
        opt_d.step()

        loss_g = bce(discriminator(fake), real_label)
        opt_g.zero_grad(set_to_none=True)
        loss_g.backward()
        opt_g.step()

        if step % 10 == 0:
            print(f"step {step} loss_d {loss_d.item():.4f} loss_g {loss_g.item():.4f}")

    print("params", digest([*generator.parameters(), *discriminator.parameters()]))


if __name__ == "__main__":
    main()
