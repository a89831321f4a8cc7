"""Corners: trainers that each do one thing which probes have been known to change or break."""

import functools
import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint

from tests.e2e.neutral_job import Block, Job, simple, trainer


def checkpointed(reentrant: bool) -> Job:
    """Blocks that run again inside backward, with their dropout."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(Block() for _ in range(2))
            self.inner = nn.Linear(16, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.inner(x)
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=reentrant)
            return x

    model = Model()
    return simple(model, torch.optim.AdamW(model.parameters(), lr=1e-2), (2, 5, 16))


@trainer
def checkpoint_reentrant() -> Job:
    return checkpointed(reentrant=True)


@trainer
def checkpoint_early_stop() -> Job:
    return checkpointed(reentrant=False)


@trainer
def checkpoint_selective() -> Job:
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    def policy(_: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        save = op in (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.PREFER_RECOMPUTE

    block = Block()

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = block

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = checkpoint(
                block,
                # Not contiguous, so that hashing it has to copy it under the policy's mode.
                x.transpose(0, 1),
                use_reentrant=False,
                context_fn=functools.partial(create_selective_checkpoint_contexts, policy),
            )
            return out

    model = Model()
    return simple(model, torch.optim.SGD(model.parameters(), lr=1e-2), (2, 5, 16))


class Clamped(torch.autograd.Function):
    """A straight-through clamp with two outputs."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(x)
        return x.clamp(-0.5, 0.5), x * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        gradient: torch.Tensor = grads[0] + 2 * grads[1] * (x > 0)
        return gradient


@trainer
def custom_function() -> Job:
    class Clamp(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            pair: tuple[torch.Tensor, torch.Tensor] = Clamped.apply(x)  # type: ignore[no-untyped-call]
            return pair

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.clamp, self.last = nn.Linear(4, 6), Clamp(), nn.Linear(6, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            low, high = self.clamp(self.first(x))
            return self.last(low) + self.last(high)  # type: ignore[no-any-return]

    model = Model()
    return simple(model, torch.optim.Adagrad(model.parameters(), lr=1e-2), (5, 4))


@trainer
def writes_in_place_into_outputs() -> Job:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
            self.same = nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.same(x)
            h = self.a(x)
            h.mul_(2).relu_()
            left, right = self.b(h).chunk(2, dim=-1)
            y = self.same(torch.cat([right, left], dim=-1))
            y[:, 0] = 0.0
            y.add_(1)
            return self.c(y).t()  # type: ignore[no-any-return]

    model = Model()
    return simple(model, torch.optim.SGD(model.parameters(), lr=0.1), (5, 6))


@trainer
def returns_views_and_nothing() -> Job:
    @dataclass
    class Out:
        rows: torch.Tensor
        parts: list[torch.Tensor]
        name: str = "out"

    class Views(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(6, 6)

        def forward(self, x: torch.Tensor, scale: float = 1.0, mask: Any = None) -> Out:
            y = self.inner(x) * scale
            return Out(y[1:].transpose(0, 1), list(y.unbind(1)))

    class Loss(nn.Module):
        def forward(self, out: Out) -> torch.Tensor:
            return out.rows.mean() + torch.stack(out.parts).square().sum()

    model, loss_module = Views(), Loss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

    def step(number: int) -> None:
        optimizer.zero_grad()
        loss_module(model(torch.randn(4, 6), scale=0.5 + number, mask=None)).backward()
        optimizer.step()

    return Job({"model": model, "loss": loss_module}, [optimizer], step)


@trainer
def sparse_and_lazy() -> Job:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.EmbeddingBag(12, 4, sparse=True, mode="sum")
            self.head = nn.LazyLinear(2)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.head(self.table(ids))  # type: ignore[no-any-return]

    model = Model()
    optimizers: list[torch.optim.Optimizer] = [torch.optim.SparseAdam(model.table.parameters())]

    def step(_: int) -> None:
        loss = model(torch.randint(0, 12, (3, 4))).square().sum()
        optimizers[0].zero_grad()
        loss.backward()
        optimizers[0].step()
        with torch.no_grad():
            for parameter in model.head.parameters():
                assert parameter.grad is not None
                parameter.sub_(0.1 * parameter.grad)
                parameter.grad = None

    return Job({"model": model}, optimizers, step)


@trainer
def transforms_of_functions() -> Job:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(_: int) -> None:
        weights = {name: value.detach() for name, value in model.named_parameters()}

        def loss_of(values: dict[str, torch.Tensor], row: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = torch.func.functional_call(model, values, (row,))
            return out.square().sum()

        per_row = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0))
        found = per_row(weights, torch.randn(5, 3))
        for name, parameter in model.named_parameters():
            parameter.grad = found[name].mean(0)
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def compiled() -> Job:
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 2))
    whole = torch.compile(model, backend="aot_eager")
    inside = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    inside[1].compile(backend="aot_eager")
    both = [*model.parameters(), *inside.parameters()]
    optimizer = torch.optim.SGD(both, lr=0.1, momentum=0.9)

    def step(_: int) -> None:
        optimizer.zero_grad()
        inside(whole(torch.randn(4, 6))).square().mean().backward()
        optimizer.step()

    assert isinstance(whole, nn.Module)
    return Job({"whole": whole, "inside": inside}, [optimizer], step)


@trainer
def seeds_generators_of_its_own() -> Job:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    own, noise = random.Random(5), torch.Generator()

    def step(number: int) -> None:
        drawn = [own.gauss(0, 1), random.Random(number).random()]
        own.seed(number)
        legacy = np.random.RandomState(number)
        drawn += [np.random.default_rng(number).normal(), legacy.normal()]
        rows = torch.randn(3, 4, generator=noise.manual_seed(number + 7))
        rows += torch.randn(3, 4) + torch.tensor(drawn)
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def acts_in_another_thread() -> Job:
    actor, learner = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)

    def step(_: int) -> None:
        actor.load_state_dict(learner.state_dict())
        seen = torch.randn(3, 4)
        # In memory of numpy's that is written to in place, as actors do.
        shared = np.zeros((3, 4), dtype=np.float32)
        acted = []

        def act() -> None:
            shared[:] = seen.numpy()
            with torch.no_grad():
                acted.append(actor(torch.from_numpy(shared)))

        thread = threading.Thread(target=act, name="actor")
        thread.start()
        thread.join()
        optimizer.zero_grad()
        (learner(seen) + acted[0]).square().mean().backward()
        optimizer.step()

    return Job({"actor": actor, "learner": learner}, [optimizer], step)


class LazyRows(Mapping[str, torch.Tensor]):
    """A batch whose rows are drawn when they are asked for."""

    def __getitem__(self, key: str) -> torch.Tensor:
        return torch.randn(3, 4)

    def __iter__(self) -> Iterator[str]:
        return iter(["rows"])

    def __len__(self) -> int:
        return 1


class FeatureStore:
    """Makes up an attribute for whoever asks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return torch.randn(3, 4)


@trainer
def draws_its_arguments_when_they_are_read() -> Job:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 2)

        def forward(self, batch: LazyRows, store: FeatureStore) -> torch.Tensor:
            out: torch.Tensor = self.inner(batch["rows"] + store.feature)
            return out

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(_: int) -> None:
        optimizer.zero_grad()
        model(LazyRows(), store=FeatureStore()).square().mean().backward()
        optimizer.step()

    return Job({"model": model}, [optimizer], step)


@trainer
def trains_by_the_number_of_calls() -> Job:
    class Count(TorchFunctionMode):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def __torch_function__(
            self, call: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.calls += 1
            return call(*args, **(kwargs or {}))

    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(_: int) -> None:
        optimizer.zero_grad()
        with Count() as count:
            loss = model(torch.randn(6, 3).t()).square().mean()
            (loss * (1 + count.calls / 1000)).backward()
            optimizer.step()

    return Job({"model": model}, [optimizer], step)
