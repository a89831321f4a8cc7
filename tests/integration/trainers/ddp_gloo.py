"""Data-parallel training on CPU: ``torchrun --nproc-per-node 2 ddp_gloo.py``.

Two gloo ranks, DistributedSampler, an MLP under DistributedDataParallel; rank 0 prints. With
``--fault shuffle`` the list of training files is shuffled with Python's ``random`` before the
ranks agree on it (rank 0 broadcasts its order), and nobody called ``random.seed``.
"""

import argparse
import hashlib
import random
import time
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

SHARDS = 8
ROWS = 64


def digest(params: Iterable[torch.Tensor]) -> str:
    """Return the sha256 over the raw bytes of the parameters."""
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in params)).hexdigest()


def load_shard(shard: int) -> torch.Tensor:
    """Stand-in for reading one file of the data set."""
    generator = torch.Generator().manual_seed(1000 + shard)
    return torch.randn(ROWS, 6, generator=generator)


def train(args: argparse.Namespace) -> str:
    """Train on this rank and return the digest; DDP objects die here, before the group does."""
    rank = dist.get_rank()
    torch.manual_seed(args.seed)
    if args.fault == "none":
        random.seed(args.seed)

    shards = list(range(SHARDS))
    random.shuffle(shards)
    dist.broadcast_object_list(shards, src=0)
    inputs = torch.cat([load_shard(shard) for shard in shards])
    targets = (inputs[:, :3] * inputs[:, 3:]).sum(dim=1, keepdim=True)
    dataset = TensorDataset(inputs, targets)
    sampler: DistributedSampler = DistributedSampler(dataset, seed=args.seed)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)

    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(ddp.parameters(), lr=3e-3)

    step = epoch = 0
    while step < args.steps:
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(ddp(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0 and step % 8 == 0:
                print(f"step {step} loss {loss.item():.4f}")
            step += 1
            if step == args.steps:
                break
        epoch += 1
    return digest(model.parameters())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--fault", choices=["none", "shuffle"], default="none")
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    result = train(args)
    dist.barrier()
    time.sleep(0.2)  # gloo's threads need the GIL to drop finished work, or abort at exit
    dist.destroy_process_group()
    if rank == 0:
        print("params", result)


if __name__ == "__main__":
    main()
