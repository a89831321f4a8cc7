"""Ordinary trainers, small: what probes are attached to every day."""

import copy
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.e2e.neutral_job import Block, Job, simple, trainer


@trainer
def mlp_momentum() -> Job:
    model = nn.Sequential(
        nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2)
    )
    return simple(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), (8, 6))


@trainer
def cnn_batchnorm_inplace_relu() -> Job:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.Conv2d(8, 8, 3, stride=2),
        nn.BatchNorm2d(8),
        nn.LeakyReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
    return simple(model, torch.optim.Adam(model.parameters(), lr=1e-2), (4, 3, 9, 9))


@trainer
def gru_rmsprop() -> Job:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.GRU(5, 7, num_layers=2, dropout=0.2, batch_first=True)
            self.cell = nn.LSTMCell(7, 7)
            self.head = nn.Linear(7, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out, last = self.rnn(x)
            hidden = (last[-1], torch.zeros_like(last[-1]))
            for at in range(3):
                hidden = self.cell(out[:, at], hidden)
            return self.head(hidden[0])  # type: ignore[no-any-return]

    model = Net()
    return simple(model, torch.optim.RMSprop(model.parameters(), lr=1e-2), (4, 6, 5))


@trainer
def transformer_adamw_tied() -> Job:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(20, 16)
            self.blocks = nn.ModuleList(Block() for _ in range(2))
            self.head = nn.Linear(16, 20, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
            x = self.tokens(ids)
            for block in self.blocks:
                x = block(x)
            return {"hidden": x, "logits": self.head(x)}

    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def step(_: int) -> None:
        ids = torch.randint(0, 20, (3, 7))
        logits = model(ids=ids[:, :-1])["logits"]
        loss = F.cross_entropy(logits.reshape(-1, 20), ids[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=False)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def gan_two_optimizers() -> Job:
    generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    of_generator = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
    of_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)

    def step(_: int) -> None:
        critic.requires_grad_(True)
        fake = generator(torch.randn(5, 4))
        of_critic.zero_grad()
        (critic(fake.detach()).mean() - critic(torch.randn(5, 3)).mean()).backward()
        of_critic.step()
        critic.requires_grad_(False)
        of_generator.zero_grad()
        (-critic(fake).mean()).backward()
        of_generator.step()

    critic.requires_grad_(False)
    return Job({"generator": generator, "critic": critic}, [of_generator, of_critic], step)


@trainer
def gradient_penalty_double_backward() -> Job:
    critic = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)

    def step(_: int) -> None:
        x = torch.randn(5, 3, requires_grad=True)
        out = critic(x)
        (slope,) = torch.autograd.grad(outputs=out.sum(), inputs=x, create_graph=True)
        optimizer.zero_grad()
        (out.mean() + (slope.norm(dim=1) - 1).square().mean()).backward()
        optimizer.step()

    return Job({"critic": critic}, [optimizer], step)


@trainer
def gradient_accumulation() -> Job:
    model = nn.Sequential(nn.Linear(6, 9), nn.Dropout(0.3), nn.ReLU(), nn.Linear(9, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)

    def step(_: int) -> None:
        optimizer.zero_grad()
        for _ in range(3):
            (model(torch.randn(4, 6)).square().mean() / 3).backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def autocast_bfloat16_scaler() -> Job:
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8, growth_interval=2)

    def step(number: int) -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(6, 8)).float().square().mean()
        if number == 1:
            # The scaler skips this step, so its work runs on into the next.
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return Job({"model": model}, [optimizer], step)


@trainer
def multihead_attention() -> Job:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(12, 3, dropout=0.1, batch_first=True)
            self.out = nn.Linear(12, 2)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y, weights = self.attention(x, x, x, need_weights=True)
            return self.out(y), weights

    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, amsgrad=True)

    def step(_: int) -> None:
        optimizer.zero_grad()
        y, weights = model(torch.randn(2, 4, 12))
        (y.square().mean() + weights.std()).backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def encoder_fused_in_evaluation() -> Job:
    # The fused kernel is left as soon as a module below it has a hook of its own.
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step(_: int) -> None:
        model.eval()
        with torch.no_grad():
            target = model(torch.randn(2, 5, 16))
        model.train()
        optimizer.zero_grad()
        (model(torch.randn(2, 5, 16)) - target).square().mean().backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def replay_with_target_network() -> Job:
    class Replay:
        def __init__(self) -> None:
            self.priorities = np.ones(40)

        def sample(self, size: int) -> dict[str, Any]:
            chances = self.priorities / self.priorities.sum()
            indices = np.random.choice(40, size, p=chances)
            return {"indices": indices, "weights": (1 / chances[indices]).astype(np.float32)}

    online = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-2)
    replay = Replay()
    states = torch.randn(40, 3)
    job = Job({"online": online, "target": target}, [optimizer], lambda _: None)
    job.watched = [(replay, "sample")]

    def step(number: int) -> None:
        batch = replay.sample(6)
        rows = torch.from_numpy(batch["indices"])
        with torch.inference_mode():
            best = target(states[rows]).max(1).values
        td = online(states[rows]).gather(1, torch.randint(0, 2, (6, 1))).squeeze(1) - best.clone()
        optimizer.zero_grad()
        (torch.from_numpy(batch["weights"]) * td.square()).mean().backward()
        for parameter in online.parameters():
            assert parameter.grad is not None
            parameter.grad.data.clamp_(-1, 1)
        optimizer.step()
        replay.priorities[batch["indices"]] = td.detach().abs().numpy() + 0.1
        if number == 1:
            target.load_state_dict(online.state_dict())
        # Trainers copy models and buffers while they are watched.
        job.extra["average"] = copy.deepcopy(online)
        copy.deepcopy(replay).sample(2)

    job.step = step
    return job


@trainer
def line_search_closure() -> Job:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def step(_: int) -> None:
        x = torch.randn(6, 3)

        def closure() -> float:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return float(loss.item())

        optimizer.step(closure)  # type: ignore[no-untyped-call]

    return Job({"model": model}, [optimizer], step)
