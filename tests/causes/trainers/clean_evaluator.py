"""A CNN with batch norm; a thread evaluates a copy of it, in eval mode, at its own pace.

Run: python clean_evaluator.py
"""

import copy
import threading

import torch
from torch import nn
from torch.nn import functional as F


def evaluate(net: nn.Module, x: torch.Tensor, over: threading.Event, seen: list[float]) -> None:
    while not over.is_set():
        with torch.no_grad():
            seen.append(net(x).abs().mean().item())


def main() -> None:
    torch.manual_seed(13)
    net = nn.Sequential(nn.Conv1d(2, 6, 3), nn.BatchNorm1d(6), nn.ReLU(), nn.Flatten())
    net.append(nn.Linear(6 * 14, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    held_out, over, seen = torch.randn(40, 2, 16), threading.Event(), list[float]()
    frozen = copy.deepcopy(net).eval()
    evaluator = threading.Thread(target=evaluate, args=(frozen, held_out, over, seen))
    evaluator.start()
    for _ in range(15):
        x = torch.randn(20, 2, 16)
        loss = F.cross_entropy(net(x), (x[:, 0].sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    over.set()
    evaluator.join()
    print(f"loss {loss.item():.4f} after {len(seen)} evaluations")


if __name__ == "__main__":
    main()
