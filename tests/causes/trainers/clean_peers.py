"""Four peers learn in threads, each towards what the others said a step ago; one steps them all.

Run: python clean_peers.py
"""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional as F

PEERS = 4


def peer(seed: int) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 4))


def learn(net: nn.Module, x: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
    answer = net(x)
    wanted = (x[:, :4] > 0).float()
    loss = (
        F.binary_cross_entropy_with_logits(answer, wanted) + 0.1 * (answer - said).square().mean()
    )
    loss.backward()
    return answer.detach()


def main() -> None:
    torch.set_num_threads(1)
    drawn = torch.Generator().manual_seed(97)
    nets = [peer(seed) for seed in range(PEERS)]
    optimizers = [torch.optim.SGD(net.parameters(), 0.05, momentum=0.9) for net in nets]
    answers = [torch.zeros(16, 4)] * PEERS
    with ThreadPoolExecutor(PEERS) as pool:
        for _ in range(8):
            x = torch.randn(16, 6, generator=drawn)
            means = [sum(answers[:n] + answers[n + 1 :]) / (PEERS - 1) for n in range(PEERS)]
            for optimizer in optimizers:
                optimizer.zero_grad()
            # Whoever comes first: the peers have nothing in common but the batch.
            answers = list(pool.map(learn, nets, [x] * PEERS, means))
            for optimizer in optimizers:
                optimizer.step()


if __name__ == "__main__":
    main()
