"""Attaching probes to a trainer: the recording as its user sees it.

with probes.attach(model, optimizer, out="a.h5", heads=["q_head"]) as recording:
    recording.watch(replay_buffer, "sample")
    train(...)
"""

import atexit
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import torch

from bisect_debugger.errors import UsageError
from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from probes import environment
from probes.content import leaves
from probes.edges import Edges
from probes.gradient_hooks import Contributions, OutputGradients
from probes.loss_hooks import LossHooks
from probes.module_hooks import ModuleHooks
from probes.names import Names, named_roots
from probes.optimizer_hooks import OptimizerHooks, Optimizers, named_optimizers
from probes.parameters import Parameters
from probes.recorder import Recorder, Selection, flags_now, guarded
from probes.replay import Watch
from probes.rng import Generator, Streams
from probes.seeding import SeedingCalls
from probes.writer import Header, RunWriter

LEVELS = ("coarse", "digest", "stats", "full")

Models = torch.nn.Module | Mapping[str, torch.nn.Module] | Sequence[torch.nn.Module]


class Removable(Protocol):
    """A probe that can be taken away."""

    def remove(self) -> None:
        """Undo everything that installing it did."""


class Recording:
    """Probes on a trainer. Made by `attach`; use it as a context manager, or call `close`."""

    def __init__(
        self,
        roots: dict[str, torch.nn.Module],
        optimizers: dict[str, torch.optim.Optimizer],
        writer: RunWriter,
        selection: Selection,
    ) -> None:
        """Install every hook and record init; `attach` checks the arguments."""
        self.recorder = Recorder(writer, selection)
        names = Names()
        for name, root in roots.items():
            names.add_root(name, root)
        self._heads_exist(names, selection.heads)
        self._streams = Streams(self.recorder)
        self._parameters = Parameters(self.recorder, names)
        self._edges = Edges(self.recorder)
        self._forward_seen = self._loss_seen = -2
        self._watches: list[Watch] = []
        self._seeding = SeedingCalls(self._note_seeding)
        self._init()
        for path in names.compiled:
            writer.uncovered(f"{path} is compiled: what happens inside it is one component")
        self.recorder.at_begin += [self._edges.begin_step, self._begin]
        gradients = OutputGradients(self.recorder)
        self._contributions = Contributions(self.recorder, names)
        self._modules = ModuleHooks(
            self.recorder, names, self._edges, gradients, self._before_forward
        )
        self._losses = LossHooks(self.recorder, self._edges, self._before_backward)
        self._optimizers = OptimizerHooks(
            self.recorder,
            names,
            optimizers,
            before=lambda: self._streams.boundary("optim", every=False),
            after=self._after_optimizer,
        )
        atexit.register(self.close)

    def __enter__(self) -> Self:
        _stack.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self in _stack:
            _stack.remove(self)
        self.close("" if kind is None else f"the trainer raised {kind.__name__}: {error}")

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self.recorder.writer.path

    def watch(self, target: object, method: str, name: str = "") -> None:
        """Record what a method returns, from now on; for replay samplers.

        Args:
            target: the object, e.g. a prioritized replay buffer.
            method: the method's name, e.g. ``sample``.
            name: what the object is called in the run; its class's name by default.

        Raises:
            UsageError: the object has no such method.
        """
        if not callable(getattr(target, method, None)):
            raise UsageError(
                f"{type(target).__name__} has no method {method!r} to watch; name the method that "
                "returns the sample."
            )
        watch = Watch(self.recorder, target, method, name or type(target).__name__)
        self._watches.append(watch)

    def record(self, name: str, value: object, component: str = "") -> None:
        """Record a value by hand, now.

        Args:
            name: what it is called; a nested value gets a name per leaf.
            value: a tensor, array, number, string, or a nest of them.
            component: what a person would change; the name by default.
        """
        self._record(name, value, component or name)

    def register_generator(self, name: str, generator: Generator) -> None:
        """Record the state of one more random generator at every boundary.

        Raises:
            UsageError: it is no generator of torch, numpy or the random module.
        """
        try:
            self._streams.register(name, generator)
        except TypeError as error:
            raise UsageError(f"{error}.") from error

    def close(self, reason: str = "") -> None:
        """Take every hook away and close the file; a second call does nothing.

        Args:
            reason: why the run is not complete, or empty.
        """
        if self.recorder.closed:
            return
        if self.recorder.begun and self.recorder.active:
            self._last_row()
        self.recorder.stop()
        probes: tuple[Removable, ...] = (
            self._modules,
            self._contributions,
            self._losses,
            self._optimizers,
            self._seeding,
            *reversed(self._watches),
        )
        for probe in probes:
            probe.remove()
        atexit.unregister(self.close)
        reason = self.recorder.failed or reason
        state = schema.END_INCOMPLETE if reason else schema.END_COMPLETE
        self.recorder.writer.finish(state, reason)

    @guarded
    def _init(self) -> None:
        self._streams.boundary("init", every=True)
        self._parameters.at_init()
        self.recorder.end_step(0)

    @guarded
    def _last_row(self) -> None:
        self.recorder.end_step(0, closed=False)

    @guarded
    def _record(self, name: str, value: object, component: str) -> None:
        self.recorder.begin_step()
        for path, leaf in leaves(value):
            self.recorder.value(
                Group.USER, name + path, component, f"value{path}", leaf, flags=flags_now()
            )

    @guarded
    def _note_seeding(self, call: str, argument: str, location: str) -> None:
        self.recorder.writer.seeding(call, argument, location, self.recorder.step)

    def _begin(self) -> None:
        self._streams.boundary("start", every=True)
        self._parameters.before_step()

    def _before_forward(self) -> None:
        if self._forward_seen != self.recorder.step:
            self._forward_seen = self.recorder.step
            self._streams.boundary("forward", every=True)

    def _before_backward(self) -> None:
        if self._loss_seen != self.recorder.step:
            self._loss_seen = self.recorder.step
            self._streams.boundary("loss", every=False)

    def _after_optimizer(self) -> None:
        self._parameters.after_step()
        self._streams.boundary("end", every=True)

    @staticmethod
    def _heads_exist(names: Names, heads: tuple[str, ...]) -> None:
        paths = {name.path for name in names.modules.values()}
        missing = [head for head in heads if head not in paths]
        if missing:
            raise UsageError(
                f"No module is called {missing[0]!r}; heads are named by their full path, e.g. "
                f"{sorted(paths)[-1]!r}."
            )


def attach(
    model: Models,
    optimizer: Optimizers = None,
    *,
    out: str | Path,
    heads: Iterable[str] = (),
    level: str = "digest",
    steps: str | None = None,
    groups: Iterable[str] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    flush_seconds: float = 1.0,
) -> Recording:
    """Attach probes to a trainer and begin a recording.

    Args:
        model: the model, or several as a dict by name or as a list.
        optimizer: the optimizer, or several; each `step()` closes a step of the run.
        out: file to write, which must not exist.
        heads: modules whose events are kept whatever the globs say, by full path or by the
            path below the root.
        level: ``coarse`` (a digest per step and group), ``digest`` (per event), ``stats``
            (also L2 norm, greatest magnitude, NaN and Inf counts) or ``full`` (also content).
        steps: ``A:B`` records steps A to B - 1; all by default.
        groups: labels of the groups to record; all by default.
        include: globs of buffer names to record; all by default.
        exclude: globs of buffer names to leave out.
        flush_seconds: longest time between two flushes to the file.

    Raises:
        UsageError: an argument makes no sense; the message says which and why.
    """
    roots = named_roots(model)
    optimizers = named_optimizers(optimizer)
    if level not in LEVELS:
        raise UsageError(f"Unknown level {level!r}; use one of {', '.join(LEVELS)}.")
    first, last = _window(steps)
    selection = Selection(
        level=level,
        first=first,
        last=last,
        groups=_groups(groups),
        include=tuple(include),
        exclude=tuple(exclude),
        heads=tuple(_full_path(head, roots) for head in heads),
    )
    header = Header(
        level=level,
        window=steps or "",
        rank=_distributed("RANK", 0),
        world_size=_distributed("WORLD_SIZE", 1),
        environment=environment.collect(),
    )
    writer = RunWriter(out, header, flush_seconds=flush_seconds)
    try:
        return Recording(roots, optimizers, writer, selection)
    except BaseException:
        writer.finish(schema.END_INCOMPLETE, "attach failed")
        writer.path.unlink(missing_ok=True)
        raise


def current() -> Recording:
    """The innermost recording that was entered with ``with``.

    Raises:
        UsageError: there is none.
    """
    if not _stack:
        raise UsageError(
            "Nothing is being recorded; enter a recording first: with probes.attach(...)."
        )
    return _stack[-1]


_stack: list[Recording] = []


def _window(steps: str | None) -> tuple[int, int | None]:
    if steps is None:
        return 0, None
    first, colon, last = steps.partition(":")
    try:
        bounds = (int(first) if first else 0, int(last) if last else None)
    except ValueError:
        bounds = (-1, None)
    if not colon or bounds[0] < 0 or (bounds[1] is not None and bounds[1] <= bounds[0]):
        raise UsageError(f"{steps!r} is not a window of steps; write A:B with 0 <= A < B.")
    return bounds


def _groups(labels: Iterable[str] | None) -> frozenset[Group]:
    if labels is None:
        return frozenset(Group)
    try:
        return frozenset(Group.from_label(label) for label in labels)
    except KeyError as error:
        known = ", ".join(group.label for group in Group)
        raise UsageError(f"Unknown group {error.args[0].lower()!r}; there are {known}.") from error


def _full_path(head: str, roots: Mapping[str, torch.nn.Module]) -> str:
    for name in roots:
        if head == name or head.startswith(name + "."):
            return head
    return f"{next(iter(roots))}.{head}"


def _distributed(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    return int(value) if value.isdigit() else default
