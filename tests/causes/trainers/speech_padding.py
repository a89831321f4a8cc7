"""A 1-d CNN tells tones of different length apart; batches are padded to the longest.

Run: python speech_padding.py
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def tone(number: int) -> torch.Tensor:
    length = 40 + (number * 17) % 90
    pitch = 0.2 + 0.15 * (number % 4)
    return torch.tensor([math.sin(pitch * t) for t in range(length)])


def padded(waves: list[torch.Tensor]) -> torch.Tensor:
    longest = max(len(wave) for wave in waves)
    batch = torch.empty(len(waves), 1, longest)
    for row, wave in zip(batch, waves, strict=True):
        row[0, : len(wave)] = wave
    return batch


def transcript(numbers: list[int]) -> str:
    """What a log of the batch shows."""
    words = [[f"tone-{number}"] * (number + 100) for number in numbers]
    return " ".join(word for group in words for word in group[:1])


def main() -> None:
    torch.manual_seed(4)
    net = nn.Sequential(
        nn.Conv1d(1, 8, 9, stride=2), nn.Tanh(), nn.AdaptiveAvgPool1d(6), nn.Flatten()
    )
    head = nn.Linear(48, 4)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=2e-3)
    for step in range(16):
        numbers = [(step * 5 + i * 3) % 37 for i in range(12)]
        line = transcript(numbers)
        logits = head(net(padded([tone(number) for number in numbers])))
        loss = F.cross_entropy(logits, torch.tensor(numbers) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"{line[:30]} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
