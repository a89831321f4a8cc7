"""An autoencoder: threads work on shards of the batch, each with a copy of the model that it keeps.

Before each job a thread loads what the model has learnt; gradients are added up shard by shard.

Run: python clean_kept_copies.py
"""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

SHARDS = 6
of_thread = threading.local()


def gradients(net: nn.Module, shard: torch.Tensor) -> tuple[torch.Tensor, ...]:
    if not hasattr(of_thread, "replica"):
        of_thread.replica = copy.deepcopy(net)
    replica = of_thread.replica
    replica.load_state_dict(net.state_dict())
    loss = (replica(shard) - shard).square().mean()
    return torch.autograd.grad(loss, list(replica.parameters()))


def main() -> None:
    torch.manual_seed(89)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(12, 5), nn.Tanh(), nn.Linear(5, 12))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(12):
            shards = torch.randn(48, 12).chunk(SHARDS)
            jobs = [pool.submit(gradients, net, shard) for shard in shards]
            optimizer.zero_grad()
            for job in jobs:
                for parameter, gradient in zip(net.parameters(), job.result(), strict=True):
                    before = parameter.grad
                    parameter.grad = gradient if before is None else before + gradient
            optimizer.step()


if __name__ == "__main__":
    main()
