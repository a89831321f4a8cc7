"""A small reinforcement-learning trainer with two independent faults, from one seed.

    python train.py                      # bare: prints a digest of the final parameters
    python train.py --out a.h5           # the same run, recorded
    python train.py --fixed --out a.h5   # with both faults repaired

A recurrent encoder feeds five heads: q, pi, v, a distributional IQN head and an outcome head
that predicts how an episode ends. Batches come from a prioritized replay buffer that a toy
environment fills. Two runs of one seed are not the same run, for two reasons:

1. The IQN head's tau sampler runs 12 blocks in parallel. Every block reads the shared generator
   state, and block 0 moves it on when it is done, with nothing in between that makes it wait for
   the others. Which blocks see the old state is up to the scheduler; the state itself is the same
   afterwards. The IQN head works on a detached hidden state, so this never reaches the encoder.
2. The outcome head's weights come from a generator that nobody seeded. Its labels are all -1
   ("not known yet", ignored) until the first episode ends, so its gradient is exactly zero, and
   the difference sleeps. The first ended episode enters the batch at step 2; from then on the
   encoder's gradient differs, and everything after it.
"""

import argparse
import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import nn

OBSERVATION, ACTIONS, HIDDEN, WINDOW, BATCH = 6, 3, 8, 4, 12
QUANTILES, WAVES = 8, 4
ROUNDS, MULTIPLIER, STRIDE = 48, 0x2545F4914F6CDD1D, 0x1E3779B97F4A7C15
WARM_UP, PER_STEP, HORIZON = 12, 4, 24
UNKNOWN = -1

FloatArray = npt.NDArray[np.float32]


class TauSampler(nn.Module):
    """Draws quantile fractions with a counter-based generator, one block of work per row.

    Each number starts as its own counter and is mixed with the shared state in rounds, in the
    way of Philox and Threefry; between rounds the state moves on.
    """

    def __init__(self, seed: int, fixed: bool) -> None:
        super().__init__()
        self.register_buffer("state", torch.tensor(seed, dtype=torch.int64))
        self.state: torch.Tensor
        self.fixed = fixed
        self.pool = ThreadPoolExecutor(max_workers=8)

    def forward(self, rows: int) -> torch.Tensor:
        words = torch.arange(rows * QUANTILES).view(rows, QUANTILES)
        for _ in range(ROUNDS):
            # The repair: every block of a round reads a state that no block moves on.
            state = self.state.clone() if self.fixed else self.state
            list(self.pool.map(self.block, range(rows), words, repeat(state)))
        return (words & 0xFFFFFF).float() / 2**24

    def block(self, index: int, words: torch.Tensor, state: torch.Tensor) -> None:
        mixed = (words ^ state) * MULTIPLIER
        words.copy_(mixed ^ (mixed >> 32))
        if index == 0:
            self.state.add_(STRIDE)


class IQNHead(nn.Module):
    """Implicit quantiles of the return, on a hidden state that it does not train."""

    def __init__(self, seed: int, fixed: bool) -> None:
        super().__init__()
        self.tau_sampler = TauSampler(seed, fixed)
        self.embed = nn.Linear(WAVES, HIDDEN)
        self.value = nn.Linear(HIDDEN, 1)

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        taus = self.tau_sampler(hidden.shape[0])
        waves = torch.cos(torch.pi * taus.unsqueeze(-1) * torch.arange(WAVES))
        phi = F.relu(self.embed(waves))
        return taus, self.value(hidden.unsqueeze(1) * phi).squeeze(-1)


class Agent(nn.Module):
    """A GRU encoder and five heads on its last hidden state."""

    def __init__(self, seed: int, fixed: bool) -> None:
        super().__init__()
        self.encoder = nn.GRU(OBSERVATION, HIDDEN, batch_first=True)
        self.q_head = nn.Linear(HIDDEN, ACTIONS)
        self.pi_head = nn.Linear(HIDDEN, ACTIONS)
        self.v_head = nn.Linear(HIDDEN, 1)
        self.iqn_head = IQNHead(seed, fixed)
        self.outcome_head = nn.Linear(HIDDEN, 2)
        # Each head draws from a stream of its own, so that adding a head moves no other.
        initialise([self.encoder], np.random.default_rng(seed))
        initialise([self.q_head], np.random.default_rng(seed + 1))
        initialise([self.pi_head], np.random.default_rng(seed + 2))
        initialise([self.v_head], np.random.default_rng(seed + 3))
        initialise([self.iqn_head.embed, self.iqn_head.value], np.random.default_rng(seed + 4))
        initialise([self.outcome_head], np.random.default_rng(seed + 5 if fixed else None))

    def forward(self, windows: torch.Tensor) -> dict[str, torch.Tensor]:
        _, last = self.encoder(windows)
        hidden = last[-1]
        taus, quantiles = self.iqn_head(hidden.detach())
        return {
            "q": self.q_head(hidden),
            "pi": self.pi_head(hidden),
            "v": self.v_head(hidden),
            "taus": taus,
            "quantiles": quantiles,
            "outcome": self.outcome_head(hidden),
        }


def initialise(modules: Iterable[nn.Module], rng: np.random.Generator) -> None:
    """Normal weights of the usual width, zero biases."""
    for module in modules:
        for name, parameter in module.named_parameters():
            with torch.no_grad():
                if "bias" in name:
                    parameter.zero_()
                else:
                    width = parameter.shape[-1] ** -0.5
                    drawn = rng.normal(0.0, width, parameter.shape).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))


class Environment:
    """A drifting point; an episode ends after HORIZON moves, won if it ends to the right."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.reset()

    def reset(self) -> None:
        self.position = np.zeros(OBSERVATION, dtype=np.float32)
        self.window = [self.position] * WINDOW
        self.moves = 0

    def move(self, action: int) -> tuple[FloatArray, float, int]:
        """One move: the window of observations, the reward, and the outcome if it ended."""
        drift = self.rng.normal(0.0, 0.3, OBSERVATION).astype(np.float32)
        self.position = (0.9 * self.position + drift).astype(np.float32)
        self.position[0] += np.float32(0.2 * (action - 1))
        self.window = [*self.window[1:], self.position]
        self.moves += 1
        window, reward = np.stack(self.window), float(self.position[0])
        if self.moves < HORIZON:
            return window, reward, UNKNOWN
        won = int(self.position[0] > 0)
        self.reset()
        return window, reward, won


@dataclass
class Sample:
    """What the replay buffer hands to the trainer."""

    indices: npt.NDArray[np.int64]
    weights: FloatArray
    windows: FloatArray
    actions: npt.NDArray[np.int64]
    rewards: FloatArray
    outcomes: npt.NDArray[np.int64]


class PrioritizedReplay:
    """Proportional prioritized replay; the newest moves are always part of a batch."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.moves: list[tuple[FloatArray, int, float, int]] = []
        self.priorities: list[float] = []

    def add(self, window: FloatArray, action: int, reward: float, outcome: int) -> None:
        self.moves.append((window, action, reward, outcome))
        self.priorities.append(max(self.priorities, default=1.0))

    def sample(self, size: int) -> Sample:
        scaled = np.asarray(self.priorities) ** 0.6
        chances = scaled / scaled.sum()
        drawn = self.rng.choice(len(self.moves), size - PER_STEP, p=chances)
        newest = np.arange(len(self.moves) - PER_STEP, len(self.moves))
        indices = np.concatenate([drawn, newest])
        weights = (len(self.moves) * chances[indices]) ** -0.4
        windows, actions, rewards, outcomes = zip(*(self.moves[i] for i in indices), strict=True)
        return Sample(
            indices=indices,
            weights=(weights / weights.max()).astype(np.float32),
            windows=np.stack(windows),
            actions=np.asarray(actions),
            rewards=np.asarray(rewards, dtype=np.float32),
            outcomes=np.asarray(outcomes),
        )

    def update(self, indices: npt.NDArray[np.int64], errors: FloatArray) -> None:
        for index, error in zip(indices.tolist(), errors.tolist(), strict=True):
            self.priorities[index] = abs(error) + 1e-3


def losses(output: dict[str, torch.Tensor], sample: Sample) -> tuple[torch.Tensor, FloatArray]:
    """The sum of all heads' losses, and the TD errors for the priorities."""
    weights, rewards = torch.from_numpy(sample.weights), torch.from_numpy(sample.rewards)
    actions = torch.from_numpy(sample.actions)
    chosen = output["q"].gather(1, actions[:, None]).squeeze(1)
    errors = rewards - chosen
    q_loss = (weights * F.smooth_l1_loss(chosen, rewards, reduction="none")).mean()
    v_loss = F.mse_loss(output["v"].squeeze(1), rewards)
    advantage = (rewards - output["v"].detach().squeeze(1)).clamp(-1, 1)
    pi_loss = (F.cross_entropy(output["pi"], actions, reduction="none") * advantage).mean()
    spread = rewards[:, None] - output["quantiles"]
    huber = F.huber_loss(output["quantiles"], rewards[:, None].expand_as(spread), reduction="none")
    iqn_loss = ((output["taus"] - (spread.detach() < 0).float()).abs() * huber).mean()
    labels = torch.from_numpy(sample.outcomes)
    # A batch without an ended episode has nothing to learn from: its loss is exactly zero.
    outcome_loss = F.cross_entropy(
        output["outcome"], labels, ignore_index=UNKNOWN, reduction="sum"
    ) / len(labels)
    total = q_loss + v_loss + pi_loss + iqn_loss + outcome_loss
    return total, errors.detach().numpy()


def collect(
    environment: Environment, replay: PrioritizedReplay, rng: np.random.Generator, moves: int
) -> None:
    for _ in range(moves):
        action = int(rng.integers(ACTIONS))
        window, reward, outcome = environment.move(action)
        replay.add(window, action, reward, outcome)


def main() -> None:
    parser = argparse.ArgumentParser(description="A trainer with two faults, for the demo.")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--fixed", action="store_true", help="repair both faults")
    parser.add_argument("--out", help="record the run into this file")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    agent = Agent(options.seed, options.fixed)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    environment = Environment(np.random.default_rng(options.seed + 10))
    replay = PrioritizedReplay(np.random.default_rng(options.seed + 11))
    behaviour = np.random.default_rng(options.seed + 12)
    collect(environment, replay, behaviour, WARM_UP)

    recording = None
    if options.out:
        import probes

        recording = probes.attach(
            {"agent": agent},
            optimizer,
            out=options.out,
            level="full",
            heads=["q_head", "pi_head", "v_head", "iqn_head", "outcome_head"],
        )
        recording.watch(replay, "sample", name="per")
    with recording or nullcontext():
        for step in range(options.steps):
            collect(environment, replay, behaviour, PER_STEP)
            sample = replay.sample(BATCH)
            if recording:
                recording.record("outcome_labels", sample.outcomes)
            loss, errors = losses(agent(torch.from_numpy(sample.windows)), sample)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            replay.update(sample.indices, errors)
            print(f"step {step} loss {loss.item():.6f} ended {(sample.outcomes >= 0).sum()}")

    content = b"".join(parameter.detach().numpy().tobytes() for parameter in agent.parameters())
    print(f"parameters {hashlib.sha256(content).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
