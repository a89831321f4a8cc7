"""The recorder: what every probe hands its values to.

It owns the current step, decides what is recorded (window, groups, name globs), hashes, and
writes. No hook raises into the trainer: `guarded` turns any failure of ours into one warning,
an `incomplete` run, and silence from then on.
"""

import fnmatch
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from probes.content import Unsupported, dense_bytes, is_plain, parts
from probes.stats import stats_of
from probes.writer import RunWriter

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is recorded.

    Attributes:
        level: ``coarse``, ``digest``, ``stats`` or ``full``.
        first: first recorded step.
        last: one past the last recorded step, or None for no end.
        groups: recorded groups.
        include: name globs; empty for all.
        exclude: name globs that are left out.
        heads: module paths whose events are always kept.
    """

    level: str = "digest"
    first: int = 0
    last: int | None = None
    groups: frozenset[Group] = frozenset(Group)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()

    def covers(self, step: int) -> bool:
        """The step is recorded; init always is."""
        if step == INIT_STEP:
            return True
        return step >= self.first and (self.last is None or step < self.last)

    def takes(self, group: Group, name: str, component: str) -> bool:
        """The buffer is recorded."""
        if group not in self.groups:
            return False
        if component in self.heads:
            return True
        if self.include and not any(fnmatch.fnmatchcase(name, glob) for glob in self.include):
            return False
        return not any(fnmatch.fnmatchcase(name, glob) for glob in self.exclude)


@dataclass(frozen=True, slots=True)
class LastOutput:
    """The output that was hashed last."""

    tensor: weakref.ref[torch.Tensor]
    version: int
    layout: Layout
    digest: bytes

    def is_still(self, tensor: torch.Tensor) -> bool:
        """It is this very tensor, and nobody wrote to it since."""
        return self.tensor() is tensor and self.version == version_of(tensor) >= 0


class Recorder:
    """The state of one recording."""

    def __init__(self, writer: RunWriter, selection: Selection) -> None:
        """Record into a writer what the selection takes."""
        self.writer = writer
        self.selection = selection
        self.step = INIT_STEP
        self.begun = True
        self.failed = ""
        self.closed = False
        self.lock = threading.RLock()
        self.at_begin: list[Callable[[], None]] = []
        """Called when a step begins, before its first event."""
        self._pid = os.getpid()
        self._active = True
        self._payload = selection.level == "full"
        self._keeps_content = selection.level in ("stats", "full")
        self._ids: dict[tuple[Group, str], int | None] = {}
        self._occurrences: dict[int, int] = {}
        self._last_output: LastOutput | None = None

    @property
    def active(self) -> bool:
        """Events are taken at this moment, in this process and by this thread's program."""
        return self._active and not torch.compiler.is_compiling() and os.getpid() == self._pid

    def buffer(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        subject: str = "",
        location: str = "",
        kind: str = "",
    ) -> int | None:
        """Id of a buffer, or None where the selection leaves it out."""
        key = (group, name)
        if key in self._ids:
            return self._ids[key]
        found = None
        if self.selection.takes(group, name, component):
            found = self.writer.buffer(group, name, component, role, subject, location, kind)
        self._ids[key] = found
        return found

    def begin_step(self) -> None:
        """Note that work for the current step begins, if it has not yet."""
        if not self._active:
            return
        with self.lock:
            # Two threads may arrive at once; the first one begins the step.
            fresh, self.begun = not self.begun, True
            for call in self.at_begin if fresh else ():
                call()

    def end_step(self, optimizer: int, closed: bool = True) -> None:
        """Close the current step and go on to the next."""
        with self.lock:
            if self._active:
                self.writer.close_step(self.step, optimizer=optimizer, closed=closed)
                if self.writer.failed:
                    self.fail(self.writer.failed)
            self.step += 1
            self.begun = False
            self._occurrences.clear()
            self._last_output = None
            self._active = not self.failed and not self.closed and self.selection.covers(self.step)

    def tensor(
        self, buffer: int, tensor: torch.Tensor, flags: int = 0, *, remember: bool = False
    ) -> int:
        """Record a plain tensor; returns its occurrence in this step.

        Args:
            buffer: its id.
            tensor: dense, strided, on the CPU.
            flags: `EventFlag` bits.
            remember: it is a module's output and likely the next module's input, which then
                need not be hashed again.
        """
        last = self._last_output
        known = last is not None and last.is_still(tensor)
        if known and last is not None and not self._keeps_content:
            self.writer.event(buffer, last.layout, last.digest, flags)
            return self._count(buffer)
        layout, content = dense_bytes(tensor)
        digest = content_digest(content, layout)
        self.hashed(buffer, layout, content, digest, flags)
        if remember:
            self._last_output = LastOutput(weakref.ref(tensor), version_of(tensor), layout, digest)
        return self._count(buffer)

    def hashed(
        self,
        buffer: int,
        layout: Layout,
        content: npt.NDArray[np.uint8],
        digest: bytes,
        flags: int,
        *,
        keep: bool = True,
    ) -> None:
        """Write an event whose content was hashed already; ``keep`` allows payload and numbers."""
        if not (self._keeps_content and keep):
            self.writer.event(buffer, layout, digest, flags)
            return
        self.writer.event(
            buffer,
            layout,
            digest,
            flags,
            content=content if self._payload else None,
            stats=stats_of(content, layout),
        )

    def value(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        value: object,
        *,
        subject: str = "",
        location: str = "",
        kind: str = "",
        flags: int = 0,
    ) -> tuple[int, int] | None:
        """Record a value of any kind.

        Returns:
            (buffer id, occurrence) of its first part, or None where nothing was recorded.
        """
        if isinstance(value, torch.Tensor) and is_plain(value) and group is not Group.RNG:
            buffer = self.buffer(group, name, component, role, subject, location, kind)
            return None if buffer is None else (buffer, self.tensor(buffer, value, flags))
        try:
            pieces = parts(value)
        except Unsupported as reason:
            self.writer.uncovered(f"{name}: {reason}")
            return None
        first: tuple[int, int] | None = None
        for piece in pieces:
            buffer = self.buffer(
                group, name + piece.suffix, component, role + piece.suffix, subject, location, kind
            )
            if buffer is None:
                continue
            digest = content_digest(piece.content, piece.layout)
            # A generator's state tells by its digest alone, and it is large.
            keep = group is not Group.RNG
            self.hashed(buffer, piece.layout, piece.content, digest, flags, keep=keep)
            first = first or (buffer, self._count(buffer))
        return first

    def fail(self, reason: str) -> None:
        """Stop recording for good, say so once, and let the training go on."""
        if self.failed:
            return
        self.failed = reason
        self._active = False
        sys.stderr.write(
            f"bisect-debugger: recording stopped ({reason}); the training goes on unchanged, and "
            "the run is kept as incomplete.\n"
        )

    def stop(self) -> None:
        """Take no more events."""
        self.closed = True
        self._active = False

    def _count(self, buffer: int) -> int:
        seen = self._occurrences.get(buffer, 0)
        self._occurrences[buffer] = seen + 1
        return seen


def version_of(tensor: torch.Tensor) -> int:
    """How often the tensor was written in place; -1 where torch does not count."""
    return -1 if tensor.is_inference() else tensor._version


class HasRecorder(Protocol):
    """A probe: something with a recorder."""

    recorder: Recorder


S = TypeVar("S", bound=HasRecorder)


def guarded(
    function: Callable[Concatenate[S, P], None],
) -> Callable[Concatenate[S, P], None]:
    """Make a hook that returns at once while inactive and never raises into the trainer."""

    @functools.wraps(function)
    def hook(probe: S, /, *args: P.args, **kwargs: P.kwargs) -> None:
        recorder = probe.recorder
        if not recorder.active:
            return
        try:
            function(probe, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            recorder.fail(f"{type(error).__name__}: {str(error)[:200]}")

    return hook


def flags_now(module: torch.nn.Module | None = None) -> int:
    """Circumstances of an event at this moment, as `EventFlag` bits."""
    flags = EventFlag.NONE
    if not torch.is_grad_enabled():
        flags |= EventFlag.NO_GRAD
    if module is not None and not module.training:
        flags |= EventFlag.EVAL_MODE
    return int(flags)


def in_backward() -> bool:
    """An autograd engine is at work in this thread."""
    return bool(torch._C._current_graph_task_id() != -1)
