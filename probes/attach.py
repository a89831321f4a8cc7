"""Attaching probes to a trainer: the recording as its user sees it.

with probes.attach(model, optimizer, out="a.h5", heads=["q_head"]) as recording:
    recording.watch(replay_buffer, "sample")
    train(...)
"""

import atexit
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import torch

from bisect_debugger.errors import UsageError, printable
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
from probes.recorder import Recorder, flags_now, guarded
from probes.replay import Watch
from probes.rng import Generator, Streams
from probes.seeding import SeedingCalls
from probes.selection import Selection, globs_of, groups_of, known_level, window_of
from probes.writer import Header, RunWriter

Models = torch.nn.Module | Mapping[str, torch.nn.Module] | Sequence[torch.nn.Module]


class Removable(Protocol):
    """A probe that can be taken away."""

    def remove(self) -> None:
        """Undo everything that installing it did."""


class Recording:
    """Probes on a trainer. Made by `attach`; use it as a context manager, or call `close`."""

    def __init__(
        self,
        names: Names,
        optimizers: dict[str, torch.optim.Optimizer],
        writer: RunWriter,
        selection: Selection,
    ) -> None:
        """Install every hook and record init; `attach` checks the arguments."""
        self.recorder = Recorder(writer, selection)
        self.recorder.withdraw = self._remove_probes
        self._probes: list[Removable] = []
        self._loss_seen = schema.INIT_STEP
        self._streams = Streams(self.recorder)
        self._parameters = Parameters(self.recorder, names)
        self._init()
        for note in names.notes:
            writer.uncovered(note)
        try:
            self._install(names, optimizers)
        except BaseException:
            self._remove_probes()
            raise
        atexit.register(self._at_exit)

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
        self.close("" if error is None else _raised(error))

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
            UsageError: the object has no such method, or it cannot be watched.
        """
        if not self.recorder.closed and not self.recorder.failed:
            self._probes.append(Watch(self.recorder, target, method, name or type(target).__name__))

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
        if self.recorder.begun:
            self._last_row()
        self.recorder.stop()
        self._remove_probes()
        atexit.unregister(self._at_exit)
        state = schema.END_INCOMPLETE if reason else schema.END_COMPLETE
        self.recorder.writer.finish(state, reason)

    def _install(self, names: Names, optimizers: dict[str, torch.optim.Optimizer]) -> None:
        self._probes.append(SeedingCalls(self._note_seeding))
        edges = Edges(self.recorder)
        self._contributions = Contributions(self.recorder, names)
        self._probes.append(self._contributions)
        self.recorder.at_begin += [edges.begin_step, self._begin]
        gradients = OutputGradients(self.recorder)
        self._probes.append(
            ModuleHooks(self.recorder, names, edges, gradients, self._before_forward)
        )
        self._probes.append(LossHooks(self.recorder, edges, self._before_backward))
        self._probes.append(
            OptimizerHooks(
                self.recorder,
                names,
                optimizers,
                before=lambda: self._streams.boundary("optim"),
                after=self._after_optimizer,
            )
        )

    def _remove_probes(self) -> None:
        while self._probes:
            self._probes.pop().remove()

    def _at_exit(self) -> None:
        """Close what nobody closed; the interpreter still knows what it died of."""
        error = getattr(sys, "last_value", None)
        self.close(_raised(error) if isinstance(error, BaseException) else "")

    @guarded
    def _init(self) -> None:
        self._streams.boundary("init")
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
                Group.USER, name + path, component, f"value{path}", leaf, flags_now()
            )

    @guarded
    def _note_seeding(self, call: str, argument: str, location: str) -> None:
        self.recorder.writer.seeding(call, argument, location, self.recorder.step)

    def _begin(self) -> None:
        self._streams.boundary("start")
        self._parameters.before_step()
        self._contributions.hook_replaced()
        self._contributions.hook_waiting()

    def _before_forward(self, fresh: bool) -> None:
        self._streams.boundary("forward", unchanged=fresh)

    def _before_backward(self) -> None:
        self._contributions.hook_waiting()
        if self._loss_seen != self.recorder.step:
            self._loss_seen = self.recorder.step
            self._streams.boundary("loss")

    def _after_optimizer(self) -> None:
        self._parameters.after_step()
        self._streams.boundary("end")


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
    names = Names()
    for name, root in roots.items():
        names.add_root(name, root)
    first, last = window_of(steps)
    selection = Selection(
        level=known_level(level),
        first=first,
        last=last,
        groups=groups_of(groups),
        include=globs_of(include),
        exclude=globs_of(exclude),
        heads=tuple(_head_path(head, roots, names) for head in globs_of(heads)),
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
        return Recording(names, optimizers, writer, selection)
    except BaseException:
        writer.finish(schema.END_INCOMPLETE, "attach failed")
        with suppress(OSError):
            writer.path.unlink()
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


def _head_path(head: str, roots: Mapping[str, torch.nn.Module], names: Names) -> str:
    """Full path of a head; it may be given without the root's name.

    Raises:
        UsageError: no module has this path.
    """
    paths = {name.path for name in names.modules.values()}
    for candidate in (head, *(f"{root}.{head}" for root in roots)):
        if candidate in paths:
            return candidate
    raise UsageError(
        f"No module is called {printable(head)!r}; heads are named by their path, e.g. "
        f"{printable(max(paths, key=len))!r}."
    )


def _raised(error: BaseException) -> str:
    return printable(f"the trainer raised {type(error).__name__}: {error}")


def _distributed(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    return int(value) if value.isdigit() else default
