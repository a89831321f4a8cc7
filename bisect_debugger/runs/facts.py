"""Frozen facts about a run: what was recorded, where, and how it ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import RAISED


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named tensor or scalar.

    Attributes:
        index: its row in the buffers table; differs between runs, so never compare it.
        name: full name, e.g. ``net.q_head.weight.grad``; (group, name) identifies it.
        component: what a person can change, e.g. ``net.q_head``, ``optimizer``, ``rng.numpy``.
        role: what it is to its component, e.g. ``weight``, ``in[0]``, ``out``, ``exp_avg``.
        subject: name of the buffer it is about (the parameter of a gradient or a moment, the
            output of an output gradient), or empty.
        group: what sort of buffer it is.
        location: ``file:line`` of the component's code, or empty where not known.
        kind: class of the component, e.g. ``torch.nn.modules.linear.Linear``, or empty.
    """

    index: int
    name: str
    component: str
    role: str
    subject: str
    group: Group
    location: str
    kind: str = ""

    @property
    def key(self) -> tuple[Group, str]:
        """What identifies the buffer across runs."""
        return (self.group, self.name)


@dataclass(frozen=True, slots=True)
class SeedingCall:
    """A call that seeded a generator, e.g. ``torch.manual_seed``, where and at which step."""

    call: str
    argument: str
    location: str
    step: int


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run says about itself.

    Attributes:
        path: the file.
        rank: process rank, 0 where there is one process.
        world_size: number of processes.
        level: ``coarse``, ``digest``, ``stats`` or ``full``.
        created: ISO 8601 time in UTC.
        window: recorded steps as ``first:last`` text, or empty for all.
        complete: the recorder closed the file at the trainer's normal end, or where it was asked
            to stop: nothing is missing of what was to be recorded.
        end_reason: why it is not complete or was stopped, or empty.
        environment: facts of the machine and the process, name -> text.
        seeding: every seeding call that was seen, in order.
        uncovered: what could not be recorded, one line each.
        loads: calls that brought an earlier state back, in order: checkpoints, optimizer state.
        stopped: it was ended on purpose, so its end says nothing about the trainer's.
        killed: the process ended without closing the file, or still runs.
        selection: what the recording was asked to take, by the names of `schema.SELECTION`.
        algorithms: digest algorithms in use beside the file's first.
    """

    path: Path
    rank: int
    world_size: int
    level: str
    created: str
    window: str
    complete: bool
    end_reason: str
    environment: dict[str, str]
    seeding: tuple[SeedingCall, ...]
    uncovered: tuple[str, ...]
    loads: tuple[SeedingCall, ...] = ()
    stopped: bool = False
    killed: bool = False
    selection: dict[str, str] = field(default_factory=dict)
    algorithms: frozenset[str] = frozenset()

    @property
    def ended_by_itself(self) -> bool:
        """The trainer came to its own end."""
        return self.complete and not self.stopped

    @property
    def recording_failed(self) -> bool:
        """The recording ended early although the trainer may have gone on."""
        raised = self.end_reason.startswith(RAISED)
        return not self.complete and not self.killed and not raised


END_REASONS: dict[str, Callable[[str], str]] = {
    schema.END_COMPLETE: lambda reason: "",
    schema.END_STOPPED: lambda reason: reason or "stopped",
    schema.END_INCOMPLETE: lambda reason: reason or "the recorder gave no reason",
}


def end_reason(state: str, reason: str) -> str:
    """Why a run is not complete or was stopped, or empty.

    Args:
        state: what it ended in; anything but a known state is no end.
        reason: as it was recorded.
    """
    if state in END_REASONS:
        return END_REASONS[state](reason)
    return "the process ended without closing the file (killed, or still running)"
