"""The recorder: what every probe hands its values to.

It owns the current step, decides what is recorded (window, groups, name globs), hashes, and
writes. No hook raises into the trainer: `guarded` turns any failure of ours into one warning,
an `incomplete` run, and silence from then on.
"""

import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch._C import DisableTorchFunction
from torch.compiler import is_compiling

from bisect_debugger.errors import printable
from bisect_debugger.format.digests import DEVICE_ALGORITHM, DEVICE_EVERYWHERE
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_INCOMPLETE, INIT_STEP, EventFlag
from probes.content import Part, Unsupported, parts
from probes.known import KnownTensors
from probes.narration import say
from probes.selection import Selection
from probes.slots import LEFT_OUT, UNRESOLVED, DeviceSlot, Slot, content_of
from probes.stats import stats_of
from probes.writer import RunWriter

P = ParamSpec("P")

Place = tuple[int, int]
"""(buffer id, occurrence in the step)."""

Piece = tuple[Part, bytes, int]
"""A dense part of a value, its digest, and the flag of the algorithm that made it."""

REUSE_BYTES = 16384
"""Size from which looking a content up is cheaper than hashing it again (about 1 us)."""

_EMPTY = np.empty(0, dtype=np.uint8)
_NO_GRAD = int(EventFlag.NO_GRAD)


class Recorder:
    """The state of one recording.

    Attributes:
        writer: where events go.
        selection: what is recorded.
        step: the step that is going on.
        begun: something of this step was seen.
        stepper: number of the thread that steps the optimizer, as far as is known.
        active: events are taken at this moment and in this process.
        failed: why recording stopped, or empty.
        closed: the recording has ended.
        at_begin: called when a step begins, before its first event.
        at_end: called with its number after a step was closed, and with the digest of each group
            if it was recorded.
        ran: names of the roots that the thread that steps has run in this step.
        known: tensors that were hashed in this step already.
        withdraw: takes all hooks away; called after a failure, from where that is safe.
    """

    def __init__(self, writer: RunWriter, selection: Selection) -> None:
        """Record into a writer what the selection takes."""
        self.writer = writer
        self.selection = selection
        self.step = INIT_STEP
        self.begun = True
        self.active = True
        self.failed = ""
        self.closed = False
        # By number and not by ident, which a new thread may be given again or not.
        self._thread = writer.threads.current
        self.stepper = self._thread()
        self.lock = threading.RLock()
        self.at_begin: list[Callable[[], None]] = []
        self.at_end: list[Callable[[int, npt.NDArray[np.uint64] | None], None]] = []
        self.withdraw: Callable[[], None] = _nothing
        self._forked = False
        self._keep_content()
        self._slots: dict[tuple[Group, str], Slot] = {}
        self._occurrences: dict[int, int] = {}
        self.ran: set[str] = set()
        self.known = KnownTensors()
        self._event = writer.event
        self._on_host = selection.digest != "device"
        self.new_slot: type[Slot] = Slot if self._on_host else DeviceSlot
        self._other_algorithm = DEVICE_ALGORITHM if self._on_host else DEVICE_EVERYWHERE
        _recorders.add(self)

    def slot(
        self,
        group: Group,
        name: str,
        component: str,
        role: str,
        subject: str = "",
        location: str = "",
        kind: str = "",
    ) -> Slot:
        """The slot of a buffer; the same (group, name) gives the same one again."""
        key = (group, name)
        found = self._slots.get(key)
        if found is None:
            found = self.new_slot(group, name, component, role, subject, location, kind)
            self._slots[key] = found
        return found

    def begin_step(self, stepping: bool = False) -> bool:
        """Note that work for the current step begins; True if it had not begun yet.

        Only the thread that steps the optimizer begins a step: when another one comes along is
        chance, and so would be what is read at a step's begin.

        Args:
            stepping: the calling thread is the one that steps, from now on.
        """
        if stepping:
            self.stepper = self._thread()
        if self.begun or not self.active or not self.is_steppers():
            return False
        with self.lock:
            # Two threads may arrive at once; the first one begins the step.
            fresh, self.begun = not self.begun, True
            for call in self.at_begin if fresh else ():
                call()
            return fresh

    def is_steppers(self) -> bool:
        """The calling thread is the one that steps the optimizer."""
        return self._thread() == self.stepper

    def end_step(self, optimizer: int, closed: bool = True) -> None:
        """Close the current step and go on to the next; never raises."""
        with self.lock:
            ended, digests = self.step, None
            if self.active:
                digests = self._close_step(optimizer, closed)
            self.step += 1
            self.begun = False
            self._occurrences.clear()
            self.ran.clear()
            self.known.clear()
            self._keep_content()
            stopped = self.failed or self.closed or self._forked
            self.active = not stopped and self.selection.covers(self.step)
            if closed and not stopped:
                self._tell_end(ended, digests)

    def see(self, slot: Slot, value: object, flags: int = 0, reuse: bool = False) -> Place | None:
        """Record a value of any kind; every path of a recorded value leads through here.

        Args:
            slot: the buffer it belongs to.
            value: a tensor of any kind, an array, a number, text or bytes.
            flags: `EventFlag` bits.
            reuse: a tensor object that was hashed in this step, and not written to since as
                far as torch counts, is not hashed again.

        Returns:
            Buffer and occurrence of its first part, or None where nothing was recorded.
        """
        buffer = slot.buffer
        if buffer == LEFT_OUT:
            return None
        known = self.known.get(id(value)) if reuse else None
        if known is not None and known.is_still(value):
            layout, digest = known.layout, known.digest
        else:
            found = slot.digest(value)
            if found is None:
                return self.see_pieces(slot, self.pieces_of(slot, value), flags)
            layout, digest = slot.layout, found
            # Content that is kept has to be read anyway.
            if reuse and slot.nbytes >= REUSE_BYTES and not self._keeps_content:
                self.known.remember(value, layout, digest)  # type: ignore[arg-type]
        if buffer == UNRESOLVED:
            buffer = slot.buffer = self._resolve(slot)
            if buffer == LEFT_OUT:
                return None
        if self._keeps_content:
            self.write(slot, layout, content_of(value), digest, flags)  # type: ignore[arg-type]
        else:
            self._event(buffer, layout, digest, flags)
        seen = self._occurrences.get(buffer, 0)
        self._occurrences[buffer] = seen + 1
        return buffer, seen

    def see_again(self, slot: Slot, tensor: torch.Tensor, digest: bytes, flags: int) -> None:
        """Record a plain tensor whose digest the slot has just computed."""
        if slot.buffer < 0:
            slot.buffer = self._resolve(slot)
        if slot.buffer >= 0:
            content = content_of(tensor) if self._keeps_content else _EMPTY
            self.write(slot, slot.layout, content, digest, flags)

    def see_state(self, slot: Slot, state: bytes) -> None:
        """Record the state of a generator that tells it as bytes."""
        self.see_digest(slot, slot.digest_bytes(state), 0)

    def see_digest(self, slot: Slot, digest: bytes, flags: int) -> None:
        """Record content of the slot's layout of which only the digest is known."""
        if slot.buffer < 0:
            slot.buffer = self._resolve(slot)
        if slot.buffer >= 0:
            self._event(slot.buffer, slot.layout, digest, flags)

    def value(
        self, group: Group, name: str, component: str, role: str, value: object, flags: int = 0
    ) -> Place | None:
        """Record a value under a name that is looked up; for what is seen rarely."""
        return self.see(self.slot(group, name, component, role), value, flags)

    def write(
        self,
        slot: Slot,
        layout: Layout,
        content: npt.NDArray[np.uint8],
        digest: bytes,
        flags: int,
    ) -> None:
        """Write one event with what the level keeps of its content."""
        # A generator's state tells by its digest alone, and it is large.
        if not self._keeps_content or slot.group is Group.RNG:
            self._event(slot.buffer, layout, digest, flags)
            return
        self._event(
            slot.buffer,
            layout,
            digest,
            flags,
            content=content if self._payload else None,
            stats=stats_of(content, layout),
        )

    def fail(self, reason: str) -> None:
        """Stop recording for good, say so once, and let the training go on."""
        if self.failed:
            return
        self.failed = printable(reason)
        self.active = False
        say(
            f"recording stopped ({self.failed}); the training goes on unchanged, and the run is "
            "kept as incomplete."
        )
        # Called from inside the trainer's own calls: nothing may come out of here.
        with contextlib.suppress(Exception):
            self.writer.finish(END_INCOMPLETE, self.failed)

    def fail_with(self, error: Exception) -> None:
        """Stop recording for an error of our own; see `fail`."""
        try:
            words = str(error)
        except Exception:  # noqa: BLE001 - even an error may refuse to be shown
            words = "it does not say why"
        self.fail(f"{type(error).__name__}: {words}")

    def stop(self) -> None:
        """Take no more events."""
        self.closed = True
        self.active = False

    def silence(self) -> None:
        """In a forked child: take no events, ever; the parent may have held the lock."""
        self._forked = True
        self.active = False
        self.lock = threading.RLock()

    def _close_step(self, optimizer: int, closed: bool) -> npt.NDArray[np.uint64] | None:
        digests = None
        try:
            digests = self.writer.close_step(self.step, optimizer=optimizer, closed=closed)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.fail_with(error)
        if self.writer.failed:
            self.fail(self.writer.failed)
        return digests

    def _tell_end(self, step: int, digests: npt.NDArray[np.uint64] | None) -> None:
        try:
            for call in self.at_end:
                call(step, digests)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.fail_with(error)

    def _keep_content(self) -> None:
        level, now = self.selection.level, self.selection.keeps_content(self.step)
        self._payload = level == "full" and now
        self._keeps_content = level in ("stats", "full") and now

    def _resolve(self, slot: Slot) -> int:
        if slot.buffer == LEFT_OUT or not self.selection.takes(
            slot.group, slot.name, slot.component
        ):
            return LEFT_OUT
        return self.writer.buffer(slot.group, *slot.texts())

    def pieces_of(self, slot: Slot, value: object) -> list[Piece]:
        """The dense parts of any value with their digests; none where it cannot be read."""
        try:
            return [(piece, *piece.digest(on_host=self._on_host)) for piece in parts(value)]
        except Exception as reason:  # noqa: BLE001 - what a value refuses is its own affair
            what = (
                str(reason) if isinstance(reason, Unsupported) else f"it cannot be read ({reason})"
            )
            self.writer.uncovered(f"{slot.name}: {printable(what)}")
            return []

    def see_pieces(self, slot: Slot, pieces: Iterable[Piece], flags: int) -> Place | None:
        """Record what `pieces_of` returned; buffer and occurrence of its first part."""
        first: Place | None = None
        for piece, digest, on_device in pieces:
            part = slot
            if piece.suffix:
                part = self.slot(slot.group, *slot.texts(piece.suffix))
            if part.buffer < 0:
                part.buffer = self._resolve(part)
                if part.buffer == LEFT_OUT:
                    continue
            if on_device:
                self.writer.algorithm(self._other_algorithm)
            content = piece.content if self._keeps_content else _EMPTY
            self.write(part, piece.layout, content, digest, flags | on_device)
            place = self._count(part.buffer)
            first = first or place
        return first

    def _count(self, buffer: int) -> Place:
        seen = self._occurrences.get(buffer, 0)
        self._occurrences[buffer] = seen + 1
        return buffer, seen


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
        # First of all: anything else would become part of the program that is compiled.
        if is_compiling() or not probe.recorder.active:
            return
        try:
            # A trainer's own modes and classes of tensors must not notice being looked at.
            with DisableTorchFunction():
                function(probe, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            probe.recorder.fail_with(error)

    return hook


def flags_now() -> int:
    """Circumstances of an event at this moment, as `EventFlag` bits."""
    return 0 if torch.is_grad_enabled() else _NO_GRAD


def in_backward() -> bool:
    """An autograd engine is at work in this thread."""
    return torch._C._current_graph_task_id() != -1


def _nothing() -> None:
    """Stand in where nothing is to be done."""


_recorders: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def _silence_child() -> None:
    for recorder in _recorders:
        recorder.silence()


# Forked workers of a data loader hold every hook of their parent and must not write its run.
os.register_at_fork(after_in_child=_silence_child)
