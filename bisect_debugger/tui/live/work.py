"""The driver in a thread of its own, beside the UI that shows it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis
from bisect_debugger.progress import Listener, Seen, Stop, Watched
from bisect_debugger.runs import open_run
from bisect_debugger.tui.session import Session
from bisect_debugger.twins import open_pair
from bisect_debugger.views.pairs import PairLine, kept_words

_PATIENCE_SECONDS = 13.0
"""A trainer that was asked to end has 10 s, and its file some more."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a driver found.

    Attributes:
        diagnosis: with experiments and remarks.
        files: the two runs that it is about.
    """

    diagnosis: Diagnosis
    files: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Left:
    """What there is to say after the UI was left.

    Attributes:
        error: what ended the driver, or the UI itself; None where a verdict was found.
        narration: the lines that stand on stderr where there is no UI.
        output: the end of what the last trainer wrote.
    """

    error: BaseException | None
    narration: tuple[str, ...]
    output: bytes


def _pairs(found: Found) -> tuple[PairLine, ...]:
    """The pair that is shown, then all others that were compared."""
    a, b = map(str, found.files)
    known = [(a, b, found.diagnosis.verdict.value)]
    known += [
        (pair.a, pair.b, pair.verdict.value)
        for pair in found.diagnosis.pairs
        if {pair.a, pair.b} != {a, b}
    ]
    lines = []
    for one, other, verdict in known:
        with open_run(one) as run:
            rank, kept = run.facts.rank, kept_words(run.facts)
        lines.append(PairLine(one, other, rank, verdict, kept))
    return tuple(lines)


class Work:
    """A driver that runs in a thread until it is done, fails, or is asked to stop."""

    def __init__(self, drive: Callable[[Listener, Stop], Found]) -> None:
        """Begin with `start`.

        Args:
            drive: does the work; it tells the listener what happens, and looks at the stop.
        """
        self._drive = drive
        self._watched = Watched()
        self.stop = Stop()
        self.error: BaseException | None = None
        self.session: Session | None = None
        self.pairs: tuple[PairLine, ...] = ()
        self._over = threading.Event()
        # A driver that hangs in the system must not keep the terminal; it owns no terminal.
        self._thread = threading.Thread(target=self._run, name="driver", daemon=True)

    @property
    def over(self) -> bool:
        """The driver has ended."""
        return self._over.is_set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def look(self) -> Seen:
        """What there is to see now."""
        return self._watched.look()

    def finish(self) -> None:
        """Leave no trainer behind: ask the driver to end, wait, and insist."""
        for _ in range(2):
            if self._thread.ident is None or self.over:
                return
            self.stop.ask()
            self._over.wait(_PATIENCE_SECONDS)

    def left(self, error: BaseException | None = None) -> Left:
        """What there is to say in the end.

        Args:
            error: of the UI, where it failed.
        """
        watched = self._watched
        return Left(error or self.error, watched.narration(), watched.output())

    def _run(self) -> None:
        try:
            found = self._drive(self._watched, self.stop)
            session = Session(open_pair(*found.files))
            # With its experiments, which no file of a run holds.
            session.diagnosis = found.diagnosis
            self.pairs = _pairs(found)
            self.session = session
        except BaseException as error:  # noqa: BLE001 - raised again once the UI is left
            self.error = error
        finally:
            self._over.set()
