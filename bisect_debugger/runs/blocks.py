"""Stretches of a run's tables, one array per column."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class EventBlock:
    """The events of one step in sequence order, one array per column, n rows each.

    Attributes:
        first: row of the first event in the whole run, i.e. its sequence number.
        buffer: (n,) index into `Run.buffers`.
        layout: (n,) index into `Run.layouts`.
        digest: (n, 2) uint64 halves of the content digest.
        flags: (n,) `EventFlag` bits.
        thread: (n,) thread ordinal, 0 for the main thread.
        occurrence: (n,) how many events of the same buffer precede it in this step.
    """

    first: int
    buffer: npt.NDArray[np.uint32]
    layout: npt.NDArray[np.uint32]
    digest: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint16]
    thread: npt.NDArray[np.uint16]
    occurrence: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Number of events."""
        return len(self.buffer)


@dataclass(frozen=True, slots=True)
class StepBlock:
    """Rows ``lo:hi`` of the steps table, one array per column.

    Attributes:
        step: (n,) step numbers, the first row of a run is -1 (init).
        digest: (n, 2) digest over the step's events.
        group_digest: (n, GROUP_COUNT) digest over each group's events, 0 without events.
        elapsed_seconds: (n,) seconds from the start of recording to the step's end.
        closed: (n,) False for a last step that no optimizer step closed.
    """

    step: npt.NDArray[np.int64]
    digest: npt.NDArray[np.uint64]
    group_digest: npt.NDArray[np.uint64]
    elapsed_seconds: npt.NDArray[np.float64]
    closed: npt.NDArray[np.bool_]


def occurrences(buffer: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """How many earlier rows hold the same value, for each row."""
    if not len(buffer):
        return np.empty(0, dtype=np.int64)
    order = np.argsort(buffer, kind="stable")
    ordered = buffer[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(buffer)])
    result = np.empty(len(buffer), dtype=np.int64)
    result[order] = np.arange(len(buffer)) - np.repeat(starts, lengths)
    return result
