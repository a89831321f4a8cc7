"""A recording: every hook on a trainer, from init to the last step.

`probes.attach` makes one for models that are handed over, `probes.unedited` one that finds the
models by itself.
"""

import atexit
import contextlib
import sys
import weakref
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import torch

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from probes.content import leaves
from probes.edges import Edges
from probes.gradient_hooks import Contributions, GradientHook, OutputGradients
from probes.growth import Growth
from probes.headroom import Headroom
from probes.loss_hooks import LossHooks
from probes.module_hooks import ModuleHooks
from probes.names import Added, Names
from probes.optimizer_hooks import OptimizerHooks
from probes.parameters import Parameters
from probes.recorder import Recorder, flags_now, guarded
from probes.replay import Watch
from probes.rng import Generator, Streams
from probes.selection import Selection
from probes.uncompiled import keep_from_compiler
from probes.writer import RunWriter

_ENTRIES = (
    ModuleHooks._inputs,
    ModuleHooks._outputs,
    GradientHook.__call__,
    Recorder.see,
    Recorder.end_step,
    Recorder.begin_step,
)
"""Functions of ours that the trainer's calls lead to, and that lead back to none of it."""


class Removable(Protocol):
    """A probe that can be taken away."""

    def remove(self) -> None:
        """Undo everything that installing it did."""


class Recording:
    """Probes on a trainer. Made by `attach`; use it as a context manager, or call `close`."""

    def __init__(
        self,
        writer: RunWriter,
        selection: Selection,
        names: Names,
        unknown: Callable[[torch.nn.Module], None] | None = None,
        generators: Mapping[str, Generator] | None = None,
    ) -> None:
        """Install every hook that needs no model and record the streams.

        Args:
            writer: writes the run.
            selection: what is recorded.
            names: what has a name; it may be empty yet.
            unknown: called with a module without a name before its forward; by default it is
                named if it was put below a root since.
            generators: further generators whose state is recorded, by name.
        """
        self.recorder = Recorder(writer, selection)
        self.recorder.withdraw = self.remove_probes
        self.names = names
        self._probes: list[Removable] = []
        self._loss_seen = schema.INIT_STEP
        self._streams = Streams(self.recorder)
        for name, generator in (generators or {}).items():
            self._follow(name, generator)
        self._parameters = Parameters(self.recorder)
        self._contributions = Contributions(self.recorder, names)
        edges = Edges(self.recorder)
        self.recorder.at_begin += [edges.begin_step, self._begin]
        keep_from_compiler(_ENTRIES)
        self._state_of_streams()
        try:
            self._install(edges, unknown or self._newcomer)
        except BaseException:
            self.remove_probes()
            raise
        atexit.register(self._at_exit)

    def _install(self, edges: Edges, unknown: Callable[[torch.nn.Module], None]) -> None:
        self._probes += [Headroom(), self._contributions]
        self._growth = Growth(self.names)
        self._probes.append(self._growth)
        self._modules = ModuleHooks(
            self.recorder,
            edges,
            OutputGradients(self.recorder),
            self._before_forward,
            self._parameters.before_call,
            unknown,
        )
        self._probes.append(self._modules)
        self.recorder.at_end.append(self._listen)
        self._probes.append(LossHooks(self.recorder, edges, self._before_backward))
        self.optimizers = OptimizerHooks(
            self.recorder,
            self.names,
            before=self._before_optimizer,
            after=self._after_optimizer,
        )
        self._probes.append(self.optimizers)

    def cover(self, added: Added, *, of_thread: bool = False) -> None:
        """Record these modules and parameters from now on, and their values now as the first.

        Args:
            added: what to record.
            of_thread: the calling thread, which is not the one that trains, made them for itself.
        """
        self._first_values(added, of_thread)
        for module, name in added.modules:
            self._modules.add(module, name)
        for note in self.names.notes:
            self.recorder.writer.uncovered(note)
        self.names.notes.clear()
        self._contributions.add(held for held in added.tensors if not held.is_buffer)

    def end_init(self) -> None:
        """Close init: what comes now belongs to step 0."""
        self.recorder.end_step(0)

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
        self.close("" if error is None else raised_words(error))

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

        It belongs to the step that goes on. The call of the optimizer closes a step, so what is
        recorded after it, such as a norm of the gradients or a loss that is logged, stands in the
        next one; after the last call it stands alone, in a row of the run that no step closed.

        Args:
            name: what it is called; a nested value gets a name per leaf.
            value: a tensor, array, number, string, or a nest of them.
            component: what a person would change; the name by default.
        """
        self._record(name, value, component or name)

    def register_generator(self, name: str, generator: Generator) -> None:
        """Record the state of one more random generator, now and at every boundary.

        Raises:
            UsageError: it is no generator of torch, numpy or the random module.
        """
        self._follow(name, generator)
        self._first_state(name)

    def _follow(self, name: str, generator: Generator) -> None:
        try:
            self._streams.register(name, generator)
        except TypeError as error:
            raise UsageError(f"{error}.") from error

    @guarded
    def _first_state(self, name: str) -> None:
        self._streams.first(name)

    def close(self, reason: str = "") -> None:
        """Take every hook away and close the file; a second call does nothing.

        Args:
            reason: why the run is not complete, or empty; one that begins with
                `schema.END_STOPPED` says that it was ended on purpose.
        """
        if self.recorder.closed:
            return
        if self.recorder.begun:
            self._last_row()
        self.abandon()
        state = schema.END_INCOMPLETE if reason else schema.END_COMPLETE
        if reason.startswith(schema.END_STOPPED):
            state = schema.END_STOPPED
        try:
            self.recorder.writer.finish(state, reason)
        except Exception as error:  # noqa: BLE001 - it would hide what the trainer raised
            self.recorder.fail_with(error)

    def remove_probes(self) -> None:
        """Take every hook away; recording goes no further."""
        while self._probes:
            probe = self._probes.pop()
            try:
                probe.remove()
            except Exception as error:  # noqa: BLE001 - the others still have to go
                self.recorder.fail_with(error)

    def _at_exit(self) -> None:
        """Close what nobody closed; the interpreter still knows what it died of."""
        error = getattr(sys, "last_value", None)
        self.close(raised_words(error) if isinstance(error, BaseException) else "")

    def abandon(self) -> None:
        """Take every hook away and take nothing more; the file is somebody else's affair."""
        self.recorder.stop()
        self.remove_probes()
        atexit.unregister(self._at_exit)

    def add_probe(self, probe: Removable) -> None:
        """Take this one away with the others."""
        self._probes.append(probe)

    @guarded
    def _state_of_streams(self) -> None:
        self._streams.boundary("init")

    @guarded
    def _first_values(self, added: Added, of_thread: bool) -> None:
        self._parameters.add(added.tensors, of_thread)

    @guarded
    def _last_row(self) -> None:
        self.recorder.end_step(0, closed=False)

    @guarded
    def _record(self, name: str, value: object, component: str) -> None:
        self.recorder.begin_step()
        if not self.recorder.active:
            return
        for path, leaf in leaves(value):
            self.recorder.value(
                Group.USER, name + path, component, f"value{path}", leaf, flags_now()
            )

    @guarded
    def note_seeding(self, call: str, argument: str, location: str) -> None:
        """Note a call that seeded a generator."""
        self.recorder.writer.seeding(call, argument, location, self.recorder.step)

    def _listen(self, step: int, digests: object) -> None:
        if not self.recorder.failed:
            self._modules.listen(self.recorder.active)

    def _newcomer(self, module: torch.nn.Module) -> None:
        for added in self.names.grown(module):
            self.cover(added)

    def _begin(self) -> None:
        self._streams.boundary("start")
        self._parameters.before_step()
        self._contributions.hook_replaced()
        self._grow()
        self._contributions.hook_waiting()

    def _grow(self) -> None:
        """Name and record what was put below a root since."""
        if self._growth.is_due:
            self._growth.is_due = False
            for added in self.names.grown():
                self.cover(added)

    def _before_forward(self, fresh: bool) -> None:
        self._streams.boundary("forward", unchanged=fresh)

    def _before_backward(self) -> None:
        self._contributions.hook_waiting()
        if self._loss_seen != self.recorder.step and self.recorder.is_steppers():
            self._loss_seen = self.recorder.step
            self._streams.boundary("loss")

    def _before_optimizer(self) -> None:
        # Ahead of the gradients, which go by the names of their parameters.
        self._grow()
        self._streams.boundary("optim")

    def _after_optimizer(self, stepped: Collection[torch.Tensor]) -> None:
        self._parameters.after_step(stepped)
        self._streams.boundary("end")


def raised_words(error: BaseException) -> str:
    """Why a run is incomplete that an exception ended."""
    return printable(f"{schema.RAISED} {type(error).__name__}: {error}")


def current() -> Recording | None:
    """The innermost recording that was entered with ``with``, else that of the process.

    None where nothing is recorded, so that a trainer may keep what it records by hand.
    """
    return next(iter((*_stack[-1:], *_of_process)), None)


def watch_later(target: object, method: str, name: str) -> None:
    """Watch an object when the recording of the process begins, if it lives on and one does."""
    with contextlib.suppress(TypeError):
        _waiting.append((weakref.ref(target), method, name))


def offer(recording: Recording) -> None:
    """Let `current` find the recording of a program that was not edited, and watch what waits."""
    _of_process[:] = [recording]
    for reference, method, name in _waiting:
        target = reference()
        if target is not None:
            try:
                recording.watch(target, method, name)
            except UsageError as error:
                recording.recorder.writer.uncovered(str(error))
    _waiting.clear()


_stack: list[Recording] = []
_of_process: list[Recording] = []
_waiting: list[tuple[weakref.ref[object], str, str]] = []
