"""Folding a step's events into its digests, and setting apart what belongs to no step."""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from bisect_debugger.format.digests import name_hash, step_digests
from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.format.schema import EventFlag
from probes.threads import ThreadNumbers

_BACKGROUND = int(EventFlag.BACKGROUND)
_INIT = int(EventFlag.INIT)
_NEVER_OF_AN_ENGINE = np.array([Group.SIMULATOR, Group.REPLAY, Group.DATA], dtype=np.uint8)
"""Groups that no thread of the autograd engine has events of."""


_MOST_PLANS = 16
"""Most sequences of buffers that are remembered; optimizers that step in turns have one each."""

_LONGEST_PLAN = 20_000
"""Most events of a step whose sequence is remembered (a plan takes about 56 bytes an event)."""


class _Plan:
    """What steps have in common that saw the same buffers one after the other."""

    def __init__(
        self, buffers: npt.NDArray[np.uint32], identity: "array[int]", groups: "array[int]"
    ) -> None:
        self._records: npt.NDArray[np.uint64] = np.empty((len(buffers), 3), dtype="<u8")
        self._records[:, 0] = np.array(identity, dtype=np.uint64)[buffers]
        of_events = np.array(groups, dtype=np.uint8)[buffers]
        self._by_group = np.argsort(of_events, kind="stable")
        # Written into at each step: a fresh array would take longer than what is done with it.
        self._grouped = np.empty_like(self._records)
        counts = np.bincount(of_events, minlength=GROUP_COUNT)
        ends = 24 * np.cumsum(counts)
        # An array of no elements cannot be cast.
        empty = memoryview(b"")
        self._whole = self._records.data.cast("B") if len(buffers) else empty
        grouped = self._grouped.data.cast("B") if len(buffers) else empty
        self._slices = [
            (group, grouped[int(end) - 24 * int(count) : int(end)])
            for group, (count, end) in enumerate(zip(counts, ends, strict=True))
            if count
        ]

    def digests(self, contents: npt.NDArray[np.uint64]) -> tuple[bytes, npt.NDArray[np.uint64]]:
        """Digest of the step and (GROUP_COUNT,) of each group, as `step_digests` has it."""
        self._records[:, 1:] = contents
        # Every index is valid; asked to check them first, numpy would copy the result once more.
        self._records.take(self._by_group, 0, self._grouped, "clip")
        own = [0] * GROUP_COUNT
        for group, records in self._slices:
            own[group] = xxh3_64_intdigest(records)
        return xxh3_128_digest(self._whole), np.array(own, dtype=np.uint64)


class Folding:
    """The digests of each step of a run."""

    def __init__(self, threads: ThreadNumbers) -> None:
        """Know no buffer yet.

        Args:
            threads: numbers the threads.
        """
        self._threads = threads
        self._identity = array("Q")
        self._groups = array("B")
        self._of_threads = array("B")
        """Of each buffer: 1 where it is a parameter that a thread made for itself."""
        self._plans: dict[bytes, _Plan] = {}

    def add_buffer(self, group: Group, name: str) -> int:
        """The id of one more buffer.

        Args:
            group: its group.
            name: its name as it is stored, so that a digest can be computed from the file.
        """
        self._identity.append(name_hash(group, name))
        self._groups.append(int(group))
        self._of_threads.append(0)
        return len(self._identity) - 1

    def leave_to_thread(self, buffer: int) -> None:
        """A parameter that a thread beside the training made for itself, and did not find there.

        Args:
            buffer: its id.
        """
        self._of_threads[buffer] = 1

    def step(
        self, packed: bytearray, row: np.dtype[Any], stepping: int
    ) -> tuple[bytes, npt.NDArray[np.uint64]]:
        """Fold one step's events, and flag those that belong to no step.

        Args:
            packed: the events as rows; flags are set in place.
            row: type of a row.
            stepping: number of the thread that steps the optimizer.

        Returns:
            Digest of the step, and (GROUP_COUNT,) of each group.
        """
        rows = np.frombuffer(packed, dtype=row)
        if self._threads.is_alone or not (rows["thread"] != stepping).any():
            return self._alone(rows, rows["buffer"].tobytes())
        return self._among_others(rows, stepping)

    def _alone(
        self, rows: npt.NDArray[Any], buffers: bytes
    ) -> tuple[bytes, npt.NDArray[np.uint64]]:
        """Fold a step of one thread. Steps that saw the same buffers share all but the digests."""
        plan = self._plans.get(buffers)
        if plan is None:
            plan = _Plan(rows["buffer"], self._identity, self._groups)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            if len(rows) <= _LONGEST_PLAN:
                self._plans[buffers] = plan
        return plan.digests(rows["digest"])

    def _among_others(
        self, rows: npt.NDArray[Any], stepping: int
    ) -> tuple[bytes, npt.NDArray[np.uint64]]:
        groups = np.array(self._groups, dtype=np.uint8)[rows["buffer"]]
        # Parameters as they began are read when the first thread comes along, whichever that is.
        # Those that it made for itself are its own, as all that it does with them.
        own = np.array(self._of_threads, dtype=np.bool_)[rows["buffer"]]
        began = (groups == Group.PARAM) & ((rows["flags"] & _INIT) != 0) & ~own
        rows["thread"][began] = stepping
        aside = self._aside(rows["thread"], groups, stepping)
        if aside.any():
            rows["flags"][aside] |= _BACKGROUND
            rows, groups = rows[~aside], groups[~aside]
        return step_digests(
            np.array(self._identity, dtype=np.uint64)[rows["buffer"]],
            rows["digest"].astype(np.uint64),
            groups,
            rows["thread"],
        )

    def _aside(
        self, threads: npt.NDArray[np.uint16], groups: npt.NDArray[np.uint8], stepping: int
    ) -> npt.NDArray[np.bool_]:
        """Events of threads that run beside the training.

        When such a thread does its work is decided by the system, so the step that happens to be
        going on says nothing. The threads of the autograd engine do work that the step waits for.
        """
        other: npt.NDArray[np.bool_] = threads != stepping
        if not other.any():
            return other
        engine = np.isin(threads, np.array(sorted(self._threads.foreign), dtype=np.uint16))
        return np.logical_and(other, ~engine | np.isin(groups, _NEVER_OF_AN_ENGINE))
