"""A listener that another thread looks at: what is known, the last lines, the narration so far."""

import threading
from collections import deque
from dataclasses import dataclass

from bisect_debugger.progress.events import Event, RunBegan, TrainerSaid
from bisect_debugger.progress.state import TwinsView
from bisect_debugger.progress.tail import Tail
from bisect_debugger.progress.words import narrated

OUTPUT_KEPT = 1 << 20
"""Bytes of a run's own output that are kept, to be shown should it fail."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is to see at one moment.

    Attributes:
        view: runs and experiments.
        lines: the last lines of the trainer that runs, or ran last.
    """

    view: TwinsView
    lines: tuple[str, ...]


class Watched:
    """Hears every event, and never waits for who looks."""

    def __init__(self) -> None:
        """Nothing happened."""
        self._lock = threading.Lock()
        self._view = TwinsView()
        self._tail = Tail()
        self._output: deque[bytes] = deque()
        self._kept = 0
        self._narration: list[str] = []

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        with self._lock:
            if isinstance(event, TrainerSaid):
                self._keep(event.piece)
                return
            if isinstance(event, RunBegan):
                self._tail = Tail()
                self._output.clear()
                self._kept = 0
            self._view = self._view.after(event)
            line = narrated(event)
            if line:
                self._narration.append(line)

    def look(self) -> Seen:
        """What there is to see now."""
        with self._lock:
            return Seen(self._view, self._tail.lines())

    def narration(self) -> tuple[str, ...]:
        """All that narration would have said so far, but for progress and the trainer's output."""
        with self._lock:
            return tuple(self._narration)

    def output(self) -> bytes:
        """The end of what the trainer wrote that runs, or ran last: `OUTPUT_KEPT` bytes of it."""
        with self._lock:
            return b"".join(self._output)[-OUTPUT_KEPT:]

    def _keep(self, piece: bytes) -> None:
        self._tail.take(piece)
        self._output.append(piece)
        self._kept += len(piece)
        while self._kept - len(self._output[0]) >= OUTPUT_KEPT:
            self._kept -= len(self._output.popleft())
