"""Data parallel over four forked workers; the first sums gradients in the order they arrive.

Run: python arrival_reduce.py
"""

import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import start_processes
from torch.nn import functional as F

WORLD = 4


def reduce_gradients(params: list[nn.Parameter], rank: int) -> None:
    flat = torch.cat([p.grad.flatten() for p in params if p.grad is not None])
    if rank == 0:
        arriving = torch.empty_like(flat)
        for _ in range(WORLD - 1):
            dist.recv(arriving)
            flat += arriving
        flat /= WORLD
    else:
        dist.send(flat, 0)
    dist.broadcast(flat, 0)
    for p in params:
        p.grad, flat = flat[: p.numel()].view_as(p).clone(), flat[p.numel() :]


def work(rank: int, meeting: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=WORLD)
    torch.manual_seed(41)
    model = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, 2))
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.9)
    data = torch.Generator().manual_seed(100 + rank)
    for step in range(15):
        x = torch.randn(64, 8, generator=data)
        loss = F.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(params, rank)
        optimizer.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        start_processes(work, (f"{folder}/meeting",), WORLD, start_method="fork")


if __name__ == "__main__":
    main()
