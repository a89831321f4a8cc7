"""The recorder: what every probe hands its values to.

It owns the current step, decides what is recorded (window, groups, name globs), hashes, and
writes. No hook raises into the trainer: `guarded` turns any failure of ours into one warning,
an `incomplete` run, and silence from then on.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable

from bisect_debugger.errors import printable
from bisect_debugger.format.schema import END_INCOMPLETE
from probes.guards import flags_now, guarded, in_backward
from probes.narration import say
from probes.seeing import REUSE_BYTES, Piece, Place, Seeing
from probes.selection import Selection
from probes.writer import GroupDigests, RunWriter

__all__ = ["REUSE_BYTES", "Piece", "Place", "Recorder", "flags_now", "guarded", "in_backward"]


class Recorder(Seeing):
    """The state of one recording.

    Attributes:
        begun: something of this step was seen.
        stepping: an optimizer is at work.
        thread: tells the number of the calling thread.
        stepper: number of the thread that steps the optimizer, as far as is known.
        stepper_ident: ident of that thread.
        active: events are taken at this moment and in this process.
        failed: why recording stopped, or empty.
        closed: the recording has ended.
        at_begin: called when a step begins, before its first event.
        at_end: called with its number after a step was closed, and with what computes the digest of
            each group if it was recorded.
        ran: names of the roots that the thread that steps has run in this step.
        withdraw: takes all hooks away; called after a failure, from where that is safe.
    """

    def __init__(self, writer: RunWriter, selection: Selection) -> None:
        """Record into a writer what the selection takes."""
        super().__init__(writer, selection)
        self.begun = True
        self.stepping = False
        self.active = True
        self.failed = ""
        self.closed = False
        self.thread = self._thread
        self.stepper, self.stepper_ident = self._thread(), threading.get_ident()
        self.lock = threading.RLock()
        self.at_begin: list[Callable[[], None]] = []
        self.at_end: list[Callable[[int, GroupDigests | None], None]] = []
        self.withdraw: Callable[[], None] = _nothing
        self.ran: set[str] = set()
        self._forked = False
        _recorders.add(self)

    def begin_step(self, stepping: bool = False) -> bool:
        """Note that work for the current step begins; True if it had not begun yet.

        Only the thread that steps the optimizer begins a step: when another one comes along is
        chance, and so would be what is read at a step's begin.

        Args:
            stepping: the calling thread is the one that steps, from now on.
        """
        if stepping:
            self.stepper, self.stepper_ident = self._thread(), threading.get_ident()
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
            try:
                if self.active:
                    digests = self._close_step(optimizer, closed)
            except BaseException:
                # An interrupt. A step that is closed all the same is not closed once more.
                if self.writer.closing.last == ended:
                    self.step, self.begun = ended + 1, False
                raise
            self.step = ended + 1
            self.begun = self.stepping = False
            self.known.clear()
            self.ran.clear()
            self._keep_content()
            self._looked_at = 0
            stopped = self.failed or self.closed or self._forked
            self.active = not stopped and self.selection.covers(self.step)
            if closed and not stopped:
                self._tell_end(ended, digests)

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

    def _close_step(self, optimizer: int, closed: bool) -> GroupDigests | None:
        digests = None
        try:
            digests = self.writer.close_step(self.step, optimizer=optimizer, closed=closed)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.fail_with(error)
        if self.writer.failed:
            self.fail(self.writer.failed)
        return digests

    def _tell_end(self, step: int, digests: GroupDigests | None) -> None:
        try:
            for call in self.at_end:
                call(step, digests)
        except Exception as error:  # noqa: BLE001 - a probe must never change the run
            self.fail_with(error)


def _nothing() -> None:
    """Stand in where nothing is to be done."""


_recorders: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def _silence_child() -> None:
    for recorder in _recorders:
        recorder.silence()


# Forked workers of a data loader hold every hook of their parent and must not write its run.
os.register_at_fork(after_in_child=_silence_child)
