"""The events of several steps at once, without those of threads beside the training."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Run

_BACKGROUND = int(EventFlag.BACKGROUND)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events of steps that follow each other, n in all.

    Attributes:
        step: (n,) which of these steps each is of, from 0.
        event: (n,) row in the whole run.
        buffer, layout, thread: (n,) as in `EventBlock`.
        digest: (n, 2) halves.
        beside: how many events of threads beside the training are not among these.
    """

    step: npt.NDArray[np.int64]
    event: npt.NDArray[np.int64]
    buffer: npt.NDArray[np.int64]
    layout: npt.NDArray[np.int64]
    thread: npt.NDArray[np.uint16]
    digest: npt.NDArray[np.uint64]
    beside: int

    @classmethod
    def of(cls, run: Run, lo: int, hi: int) -> "Stretch":
        """Read the steps at rows ``lo:hi`` of a run.

        Raises:
            UnreadableRun: the run is damaged.
        """
        names = ("flags", "buffer", "layout", "thread", "digest")
        start, counts, (flags, *columns) = run.event_columns(lo, hi, names)
        keep = flags & _BACKGROUND == 0
        step = np.repeat(np.arange(hi - lo, dtype=np.int64), counts)
        event = np.arange(start, start + len(flags), dtype=np.int64)
        buffer, layout, thread, digest = columns
        if not keep.all():
            step, event = step[keep], event[keep]
            buffer, layout, thread, digest = (column[keep] for column in columns)
        beside = len(flags) - len(event)
        return cls(
            step, event, buffer.astype(np.int64), layout.astype(np.int64), thread, digest, beside
        )


def buffers_of(run: Run, lo: int, hi: int) -> tuple[npt.NDArray[np.int64], int]:
    """Only the buffers of the events of rows ``lo:hi``, and how many events are left out."""
    _, _, (flags, buffer) = run.event_columns(lo, hi, ("flags", "buffer"))
    keep = flags & _BACKGROUND == 0
    return buffer[keep].astype(np.int64), int(np.count_nonzero(~keep))


def count_beside(run: Run, lo: int, hi: int) -> int:
    """Events of threads beside the training in rows ``lo:hi``."""
    _, _, (flags,) = run.event_columns(lo, hi, ("flags",))
    return int(np.count_nonzero(flags & _BACKGROUND))
