"""An MLP whose batch is cut into shards; each is worked on by a thread with a copy of the model.

The copies come as threads get free, and the gradients are added up in the order of the shards.

Run: python clean_replicas.py
"""

import copy
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

SHARDS = 6


def gradients(net: nn.Module, shard: torch.Tensor) -> tuple[torch.Tensor, ...]:
    replica = copy.deepcopy(net)
    loss = (replica(shard) - shard[:, :4]).square().mean()
    return torch.autograd.grad(loss, list(replica.parameters()))


def main() -> None:
    torch.manual_seed(83)
    torch.set_num_threads(1)
    net = nn.Sequential(
        nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(12):
            shards = torch.randn(48, 12).chunk(SHARDS)
            jobs = [pool.submit(gradients, net, shard) for shard in shards]
            sums = [torch.zeros_like(parameter) for parameter in net.parameters()]
            for job in jobs:
                for total, gradient in zip(sums, job.result(), strict=True):
                    total.add_(gradient)
            for parameter, total in zip(net.parameters(), sums, strict=True):
                parameter.grad = total / SHARDS
            optimizer.step()


if __name__ == "__main__":
    main()
