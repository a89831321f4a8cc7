"""The walk: from differing steps to origins, each with what it contaminated and when.

One pass over the events in execution order. Every differing event is either explained by
something it was computed from (a carrier, which inherits the origins of its explanation) or
it is a new origin. Equal events clear their buffer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bisect_debugger.causality.beside import exchanged
from bisect_debugger.causality.dataflow import Dataflow, outputs_by_content
from bisect_debugger.causality.doubt import Doubt
from bisect_debugger.causality.extent import (
    affected_component,
    decides_order,
    is_elsewhere,
    says_nothing,
)
from bisect_debugger.causality.ledger import NONE, Ledger, Origins
from bisect_debugger.causality.names import (
    common_ancestor,
    is_under,
    written_at_once,
)
from bisect_debugger.causality.place import Place
from bisect_debugger.causality.rules import explain, explain_order
from bisect_debugger.causality.streams import Streams, with_what_follows
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Buffer
from bisect_debugger.twins.model import Row

OUTSIDE_TRAINING = (Group.RNG, Group.USER)
"""Groups that may differ without the training differing."""

_GRADIENTS = (Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD)
_NOT_A_DESTINATION = (Group.RNG, Group.LOSS, Group.USER, Group.OPTIM)
"""Groups whose component is not something that a difference can be said to have reached."""


@dataclass(slots=True)
class Found:
    """An origin as the walk found it.

    Attributes:
        row: the event where it began.
        component: what a person can change; an enclosing module where all of it is affected.
        siblings_equal: other buffers of its group in that step that are equal, constants aside.
        siblings_different: other buffers of its group in that step that differ.
        first_reached: first event of another component that carries it.
        first_gradient: first gradient of another component that carries it.
        contaminated: components it reached with the row of arrival, in order.
        steps: walked steps in which it differed anew although its surroundings were equal.
        reached_training: it is part of training or arrived in it; else it is a stream, a monitor
            or a thread beside the training alone.
        opened: it differs where a window opens, and may have differed before.
        merged: other origins that turned out to be the same fault.
        shared: what says that they are, a clause; or empty.
        beside: origins of its group in its step of which that is not known.
    """

    row: Row
    component: str
    siblings_equal: int = 0
    siblings_different: int = 0
    first_reached: Row | None = None
    first_gradient: Row | None = None
    contaminated: dict[str, Row] = field(default_factory=dict)
    steps: dict[int, None] = field(default_factory=dict)
    reached_training: bool = False
    opened: bool = False
    merged: list["Found"] = field(default_factory=list)
    shared: str = ""
    beside: int = 0


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk found.

    Attributes:
        origins: in order of appearance.
        first_training: first divergence that is not of a stream or recorded by hand, or None.
        first_visible: first differing loss or scalar recorded by hand, or None.
        differing: differing events met.
        last_step: last step that was walked.
        steps_walked: number of differing steps walked.
        finished: every differing step was walked.
    """

    origins: tuple[Found, ...]
    first_training: Row | None
    first_visible: Row | None
    differing: int
    last_step: int
    steps_walked: int
    finished: bool


@dataclass(frozen=True, slots=True)
class Program:
    """What is known about the recorded program before any event is looked at.

    Attributes:
        dataflow: recorded edges.
        component_of: component of every buffer name.
        users_of: components that use a parameter, by its name; several where it is shared.
        trained: parameters that an optimizer sees the gradient of.
        closed_loop: data depends on what the model did before.
        opening: the step in which a window opens, None where recording began with the run.
    """

    dataflow: Dataflow
    component_of: dict[str, str]
    users_of: dict[str, frozenset[str]] = field(default_factory=dict)
    trained: frozenset[str] = frozenset()
    closed_loop: bool = False
    opening: int | None = None

    @classmethod
    def of(
        cls, buffers: Iterable[Buffer], dataflow: Dataflow, opening: int | None = None
    ) -> "Program":
        """Read it off the buffers of the runs."""
        buffers = tuple(buffers)
        users: dict[str, set[str]] = {}
        for buffer in buffers:
            if buffer.group is Group.PARAM:
                # A shared parameter is recorded once more under its other name, about the first.
                users.setdefault(buffer.subject or buffer.name, set()).add(buffer.component)
        return cls(
            dataflow=dataflow,
            component_of={buffer.name: buffer.component for buffer in buffers},
            users_of={name: frozenset(found) for name, found in users.items()},
            trained=frozenset(b.subject for b in buffers if b.group is Group.GRAD),
            closed_loop=any(b.group in (Group.REPLAY, Group.SIMULATOR) for b in buffers),
            opening=opening,
        )


class Walk:
    """The state of one pass; `run` takes the differing steps in order."""

    def __init__(self, program: Program) -> None:
        """Begin a pass over the events of a program."""
        self._program = program
        self._ledger = Ledger()
        self._doubt = Doubt(program.opening)
        self._boundaries: dict[str, Row] = {}
        self._origins: list[Found] = []
        self._first_training: Row | None = None
        self._first_visible: Row | None = None
        self._differing = 0
        self._reordered: int | None = None
        self._in_disorder = self._sees_forward = False
        self._learned: Origins = NONE
        self._quiet_steps = 0

    def run(self, steps: Iterable[Sequence[Row]], limit: int, quiet_limit: int = 3) -> WalkResult:
        """Walk differing steps until nothing new is reached.

        Args:
            steps: rows of each differing step, in order of steps.
            limit: most steps to walk.
            quiet_limit: stop after so many steps in which no origin reached anything new, once
                no origin is dormant any more.
        """
        differing, last_step, finished = 0, -1, True
        for walked, (rows, following) in enumerate(with_what_follows(steps)):
            if walked >= limit:
                finished = False
                break
            if self._quiet_steps >= quiet_limit and not self._any_dormant():
                finished = False
                break
            last_step = max(last_step, *(row.step for row in rows[:1]), -1)
            self._step(rows, following)
            # The step before a difference is walked as well, for the state of the streams.
            differing += any(row.diverges for row in rows)
        return WalkResult(
            origins=tuple(self._origins),
            first_training=self._first_training,
            first_visible=self._first_visible,
            differing=self._differing,
            last_step=last_step,
            steps_walked=differing,
            finished=finished,
        )

    def _any_dormant(self) -> bool:
        return any(
            found.first_reached is None and is_of_training(found.row) for found in self._origins
        )

    def _step(self, rows: Sequence[Row], following: Sequence[Row]) -> None:
        self._ledger.begin_step()
        self._doubt.begin_step()
        self._learned = frozenset(
            number for number, found in enumerate(self._origins) if found.first_gradient
        )
        streams = Streams(rows, self._boundaries, following)
        surroundings = _Surroundings(
            streams,
            outputs_by_content(rows),
            frozenset(row.subject for row in rows if row.group is Group.GRAD_SCRATCH),
        )
        news = self._reached_count()
        training = False
        # Where optimizers step within a backward pass, it goes on through several steps.
        forward = any(row.group is Group.FORWARD for row in rows)
        self._in_disorder &= self._sees_forward and not forward
        self._sees_forward |= forward
        swapped = exchanged(rows)
        for index, row in enumerate(rows):
            if not row.status.diverges or index in swapped:
                self._ledger.clear(row)
            if row.shuffled:
                self._doubt.note_shuffled(row)
            if (
                index in swapped
                or not row.diverges
                or (row.group in OUTSIDE_TRAINING and not row.status.diverges)
            ):
                continue
            self._differing += 1
            if is_of_training(row):
                training = True
                self._first_training = self._first_training or row
            place = self._place(row, index, surroundings)
            if row.status.diverges:
                self._differing_event(row, rows, place)
            else:
                self._moved_event(row, rows, place)
        self._boundaries = streams.last()
        if self._reached_count() != news:
            self._quiet_steps = 0
        elif training:
            self._quiet_steps += 1

    def _place(self, row: Row, index: int, surroundings: "_Surroundings") -> Place:
        return Place(
            row=row,
            index=index,
            ledger=self._ledger,
            streams=surroundings.streams,
            dataflow=self._program.dataflow,
            shared_outputs=surroundings.shared_outputs,
            contributed=surroundings.contributed,
            component_of=self._program.component_of,
            users_of=self._program.users_of,
            trained=self._program.trained,
            closed_loop=self._program.closed_loop,
            learned=self._learned,
        )

    def _differing_event(self, row: Row, rows: Sequence[Row], place: Place) -> None:
        explanation = explain(place)
        origins = explanation.origins
        branch = self._doubt.branch_of(row) if not origins or not explanation.certain else NONE
        if branch:
            origins = branch
            self._widen(row, origins)
        if not origins:
            origins = self._without_upstream(row, rows)
        if row.a is None or row.b is None:
            self._doubt.note_one_sided(row, origins)
        self._ledger.taint(row, origins)
        self._note_visible(row)
        if explanation.certain or len(origins) == 1:
            self._note_arrival(row, origins)

    def _without_upstream(self, row: Row, rows: Sequence[Row]) -> Origins:
        """What a difference is owed to whose surroundings are equal; itself, in the end."""
        if self._in_disorder and self._reordered is not None:
            # What is done in another order may round, draw or overwrite otherwise.
            return frozenset({self._reordered})
        origins = self._doubt.explains(row)
        if origins:
            self._widen(row, origins)
            return origins
        shuffled = self._doubt.shuffled_for(row)
        if shuffled is not None:
            return frozenset({self._origin_of(replace(shuffled, moved=True), rows)})
        found = frozenset({self._origin_of(row, rows)})
        if self._doubt.is_of_opening(row):
            self._doubt.note_opening(found)
            for number in found:
                self._origins[number].opened = True
        return found

    def _widen(self, row: Row, origins: Origins) -> None:
        """An origin that stands for the events of a branch is what encloses their components."""
        for number in origins:
            found = self._origins[number]
            alike = found.row.group is row.group and found.row.step == row.step
            if alike and (found.opened or None in (found.row.a, found.row.b)):
                found.component = common_ancestor(found.component, row.component) or found.component

    def _moved_event(self, row: Row, rows: Sequence[Row], place: Place) -> None:
        """Equal content at another place: one origin for all that stands in another order."""
        origins = explain_order(place)
        if not origins:
            self._in_disorder = True
            if self._reordered is None:
                self._reordered = self._new_origin(row, rows, decides_order(row, rows))
            self._origins[self._reordered].steps[row.step] = None
            origins = frozenset({self._reordered})
        if len(origins) == 1:
            self._note_arrival(row, origins)

    def _reached_count(self) -> int:
        return len(self._origins) + sum(len(found.contaminated) for found in self._origins)

    def _origin_of(self, row: Row, rows: Sequence[Row]) -> int:
        """One origin per component and group; init is apart from training.

        Eight weights of one head are one fault, and so is a kernel that differs anew in every
        step.
        """
        for number, found in enumerate(self._origins):
            if written_at_once(found.row, row, self._program.trained):
                holder = common_ancestor(found.component, row.component)
                if holder:
                    found.component = holder
                    return number
            same = is_under(row.component, found.component) and found.row.group is row.group
            if same and number != self._reordered and _one_beginning(found.row, row):
                found.steps[row.step] = None
                return number
        return self._new_origin(row, rows, affected_component(row, rows))

    def _new_origin(self, row: Row, rows: Sequence[Row], component: str) -> int:
        siblings = [
            other
            for other in rows
            if other.group is row.group
            and other.is_first_value == row.is_first_value
            and other is not row
            and not says_nothing(other)
        ]
        different = sum(other.status.diverges for other in siblings)
        self._origins.append(
            Found(
                row=row,
                component=component,
                siblings_equal=len(siblings) - different,
                siblings_different=different,
                steps={row.step: None},
                reached_training=is_of_training(row),
            )
        )
        return len(self._origins) - 1

    def _note_visible(self, row: Row) -> None:
        visible = row.group is Group.LOSS or (
            row.group is Group.USER and row.any_side.layout.elements == 1
        )
        if visible and self._first_visible is None:
            self._first_visible = row

    def _note_arrival(self, row: Row, origins: Origins) -> None:
        for number in origins:
            self._origins[number].reached_training |= is_of_training(row)
        if row.group in _NOT_A_DESTINATION or EventFlag.BACKGROUND in row.flags:
            return
        for number in origins:
            found = self._origins[number]
            if row is found.row or not is_elsewhere(row, found):
                continue
            if found.first_reached is None:
                found.first_reached = row
            if found.first_gradient is None and row.group in _GRADIENTS:
                found.first_gradient = row
            found.contaminated.setdefault(row.component, row)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What holds for a step as a whole; see `Place`."""

    streams: Streams
    shared_outputs: dict[tuple[int, int], set[str]]
    contributed: frozenset[str]


def is_of_training(row: Row) -> bool:
    """It belongs to a step of the training, and is no stream or monitor or thread beside it."""
    return row.group not in OUTSIDE_TRAINING and EventFlag.BACKGROUND not in row.flags


def _one_beginning(found: Row, row: Row) -> bool:
    """Both are first values of one moment, or neither is one."""
    if found.is_first_value or row.is_first_value:
        return found.is_first_value and row.is_first_value and found.step == row.step
    return True
