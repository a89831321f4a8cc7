"""Three training workloads to measure probes on: many small buffers, many large ones, images.

Each builder returns the model, its optimizer and a function that trains one step.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

Workload = tuple[nn.Module, torch.optim.Optimizer, Callable[[], None]]


class DuelingNet(nn.Module):
    """Three hidden layers, and a value and an advantage stream."""

    def __init__(self, observation: int = 64, width: int = 256, actions: int = 18) -> None:
        super().__init__()
        widths = (observation, width, width, width)
        self.body = nn.Sequential(
            *(
                layer
                for here, there in itertools.pairwise(widths)
                for layer in (nn.Linear(here, there), nn.ReLU())
            )
        )
        self.value, self.advantage = nn.Linear(width, 1), nn.Linear(width, actions)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Action values, (batch, actions)."""
        hidden = self.body(observation)
        advantage: torch.Tensor = self.advantage(hidden)
        values: torch.Tensor = self.value(hidden) + advantage - advantage.mean(1, keepdim=True)
        return values


def reinforcement_learning() -> Workload:
    """Double Q-learning with proportional prioritized replay: 0.15 M parameters, batch 128."""
    transitions, batch = 16384, 128
    online, target = DuelingNet(), DuelingNet()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=3e-4)
    drawn = np.random.default_rng(0)
    observations = torch.randn(transitions + 1, 64)
    actions = torch.randint(0, 18, (transitions,))
    rewards, ends = torch.randn(transitions), (torch.rand(transitions) < 0.02).float()
    priorities = np.ones(transitions)

    def step() -> None:
        weights = priorities**0.6
        indices = drawn.choice(transitions, batch, p=weights / weights.sum())
        rows = torch.from_numpy(indices)
        with torch.no_grad():
            best = online(observations[rows + 1]).argmax(1, keepdim=True)
            ahead = target(observations[rows + 1]).gather(1, best).squeeze(1)
            goal = rewards[rows] + 0.99 * (1 - ends[rows]) * ahead
        chosen = online(observations[rows]).gather(1, actions[rows, None]).squeeze(1)
        importance = torch.from_numpy(weights[indices] ** -0.4).float()
        loss = (importance * F.smooth_l1_loss(chosen, goal, reduction="none")).mean()
        _descend(optimizer, loss)
        priorities[indices] = (chosen - goal).detach().abs().numpy() + 1e-3

    return online, optimizer, step


class Block(nn.Module):
    """Causal attention and a feed-forward part, each with its norm and residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.activation, self.dropout = nn.GELU(), nn.Dropout(0.1)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length, width) in and out."""
        batch, length, width = x.shape
        parts = self.attend(self.norm_1(x)).reshape(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        x = x + self.dropout(self.project(mixed))
        out: torch.Tensor = x + self.dropout(
            self.narrow(self.activation(self.widen(self.norm_2(x))))
        )
        return out


class Language(nn.Module):
    """A decoder whose output layer shares the token table."""

    def __init__(self, words: int = 2048, width: int = 384, depth: int = 5) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(128, width)
        self.blocks = nn.Sequential(*(Block(width, 6) for _ in range(depth)))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.out.weight = self.words.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits, (batch, length, words)."""
        places = torch.arange(tokens.shape[1])
        logits: torch.Tensor = self.out(
            self.norm(self.blocks(self.words(tokens) + self.places(places)))
        )
        return logits


def language_model() -> Workload:
    """A decoder of 9.7 M parameters on 8 sequences of 128 tokens, AdamW."""
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text = torch.randint(0, 2048, (8, 129))

    def step() -> None:
        logits = model(text[:, :-1])
        _descend(optimizer, F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()))

    return model, optimizer, step


class Residual(nn.Module):
    """Two convolutions with batch norm, and a shortcut that fits them."""

    def __init__(self, here: int, there: int, stride: int) -> None:
        super().__init__()
        self.conv_1 = nn.Conv2d(here, there, 3, stride, 1, bias=False)
        self.conv_2 = nn.Conv2d(there, there, 3, 1, 1, bias=False)
        self.norm_1, self.norm_2 = nn.BatchNorm2d(there), nn.BatchNorm2d(there)
        self.activation = nn.ReLU()
        fits = here == there and stride == 1
        self.short = nn.Identity() if fits else nn.Conv2d(here, there, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, channels, height, width) in and out."""
        y = self.norm_2(self.conv_2(self.activation(self.norm_1(self.conv_1(x)))))
        out: torch.Tensor = self.activation(y + self.short(x))
        return out


def image_classifier() -> Workload:
    """Six residual blocks up to 256 channels on 32 images of 3x32x32, SGD with momentum."""
    plan = ((32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2))
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, 1, 1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        *(Residual(*block) for block in plan),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(256, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    images, labels = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))

    def step() -> None:
        _descend(optimizer, F.cross_entropy(model(images), labels))

    return model, optimizer, step


class Scattered(nn.Module):
    """A hundred parameters of two numbers each."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ParameterList(nn.Parameter(torch.randn(2)) for _ in range(100))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A number of a row of 200."""
        return (torch.cat(list(self.parts)) - x).square().sum()


def many_contents() -> Workload:
    """Many distinct contents a step, in few bytes."""
    model = Scattered()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    rows = torch.randn(64, 200)
    numbers = itertools.count()

    def step() -> None:
        _descend(optimizer, model(rows[next(numbers) % 64]))

    return model, optimizer, step


def _descend(optimizer: torch.optim.Optimizer, loss: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


WORKLOADS: dict[str, tuple[Callable[[], Workload], int, int]] = {
    "reinforcement_learning": (reinforcement_learning, 40, 75),
    "language_model": (language_model, 3, 9),
    "image_classifier": (image_classifier, 4, 11),
}
"""Name -> builder, steps of one measured stretch, and rounds: many where steps are short, because
what else the machine does comes in bursts."""
