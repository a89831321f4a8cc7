"""Which operator, at which line, an origin began in, where a pass recorded operators."""

from dataclasses import replace

from bisect_debugger.causality.walk import Found
from bisect_debugger.diagnosis.model import Origin, Zoom
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.format.words import step_words
from bisect_debugger.runs.operators import (
    DamagedOperators,
    Operator,
    OperatorStream,
    read_operators,
)
from bisect_debugger.twins import Pair, Row
from bisect_debugger.twins.operators import AlignedOperators, Ended, OperatorFinding

_COMPUTED = (Group.FORWARD, Group.LOSS, Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD)
"""Groups whose content an operator, or the program's own code, computes in that very step."""

_NAMED = (
    Ended.KERNEL,
    Ended.DRAW,
    Ended.ARGUMENTS,
    Ended.UNWRITTEN,
    Ended.ONE_SIDED,
    Ended.THREADS,
    Ended.REORDERED,
)
"""Where the operator itself is what differs; else it is only where the difference is first seen."""


class Zoomed:
    """The operators of a pair of runs, read when an origin asks for them.

    Attributes:
        remarks: what a reader must know: operators that were not seen, or cannot be read.
    """

    def __init__(self, pair: Pair) -> None:
        """Read nothing yet."""
        self._pair = pair
        self._streams: tuple[dict[int, OperatorStream], dict[int, OperatorStream]] | None = None
        self._aligned: dict[int, AlignedOperators] = {}
        self.remarks: list[str] = []

    def began(self, found: Found) -> OperatorFinding | None:
        """Where an origin began among the operators of its step; None where that is not known.

        Args:
            found: what the walk found.
        """
        # The state of a generator is nobody's result: what counts is where it was drawn from.
        row = found.first_reached if found.row.group is Group.RNG else found.row
        return self._found(row) if row is not None and row.diverges else None

    def line_of(self, found: Found) -> str:
        """The line where an origin began or was first seen; empty where that is not known.

        Args:
            found: what the walk found.
        """
        finding = self.began(found)
        return finding.operator.line if finding is not None else ""

    def applied(self, origin: Origin, finding: OperatorFinding | None) -> Origin:
        """The origin with operator and line, as far as they are known.

        Args:
            origin: what is said of it.
            finding: what `began` found.
        """
        if finding is None:
            return origin
        operator = finding.operator
        excerpts = [
            stream.sources[operator.line]
            for streams in self._loaded()
            for stream in streams.values()
            if operator.line in stream.sources
        ]
        return replace(
            origin,
            operator=operator.name if finding.ended in _NAMED else "",
            location=operator.line,
            zoom=Zoom(
                found=finding.ended.name.lower().replace("_", "-"),
                operator=operator.name,
                overload=operator.overload,
                location=operator.line,
                module=operator.module,
                node=operator.node,
                number=finding.number,
                excerpt=excerpts[0] if excerpts else None,
            ),
            evidence=(words_of(finding), *origin.evidence),
        )

    def _found(self, row: Row) -> OperatorFinding | None:
        aligned = self._of_step(row.step)
        if aligned is None:
            return None
        events = self._events_before(row)
        if row.a is None or row.b is None:
            return aligned.first_one_sided(events)
        if not row.status.diverges:
            return aligned.next_called(events) if row.group is Group.FORWARD else None
        found = aligned.explain((_hex(row.a.digest), _hex(row.b.digest)), events)
        if found is not None and not _is_elsewhere(found, row):
            return found
        if row.group in _COMPUTED:
            self._say(
                f"The operators of {step_words(row.step)} were seen, and none of them has to do "
                f"with {printable(row.name)}: it was made outside torch's operators."
            )
        return None

    def _events_before(self, row: Row) -> int:
        """Events of the row's step that its run recorded before it."""
        side, run = (row.a, self._pair.a) if row.a is not None else (row.b, self._pair.b)
        assert side is not None, "a row has at least one side"
        return side.sequence - run.first_event(run.row_of_event(side.sequence))

    def _of_step(self, step: int) -> AlignedOperators | None:
        if step in self._aligned:
            return self._aligned[step]
        a, b = (_stream(streams, step) for streams in self._loaded())
        if a is None or b is None:
            return None
        refused = a.refused or b.refused
        if refused:
            self._say(f"Operators of {step_words(step)} were not seen: {printable(refused)}.")
            return None
        if a.dropped or b.dropped:
            self._say(
                f"Of the operators of {step_words(step)} the first {max(a.dropped, b.dropped)} "
                "were not kept."
            )
        self._aligned[step] = AlignedOperators(a, b)
        return self._aligned[step]

    def _loaded(self) -> tuple[dict[int, OperatorStream], dict[int, OperatorStream]]:
        if self._streams is None:
            try:
                first, second = (read_operators(run.path) for run in (self._pair.a, self._pair.b))
                self._streams = (first, second)
            except DamagedOperators as error:
                self._say(f"The operators that were recorded cannot be read: {error}.")
                self._streams = ({}, {})
        return self._streams

    def _say(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)


def _stream(streams: dict[int, OperatorStream], step: int) -> OperatorStream | None:
    """The operators of a step; to a program, init and the first one are one."""
    stream, init = streams.get(step), streams.get(INIT_STEP)
    if step != 0 or stream is None or init is None or init.refused:
        return stream
    earlier = [replace(operator, event=INIT_STEP) for operator in init.operators]
    return replace(stream, operators=earlier + stream.operators)


def _hex(digest: tuple[int, int]) -> str:
    return f"{digest[0]:016x}{digest[1]:016x}"


def _is_elsewhere(finding: OperatorFinding, row: Row) -> bool:
    """Nothing ties the finding to the event: nobody returned its content."""
    if finding.ended is not Ended.UNSEEN:
        return False
    module = finding.operator.module
    inside = module == row.component or module.startswith(f"{row.component}.")
    return row.group not in _COMPUTED or not inside


def words_of(finding: OperatorFinding) -> str:
    """The finding in one sentence."""
    operator = finding.operator
    called = f"{printable(operator.name)} {_where(operator)}"
    match finding.ended:
        case Ended.KERNEL:
            return f"{called} is where results first differ although all that went in is equal."
        case Ended.DRAW:
            return f"{called} draws from a generator whose state differs between the runs."
        case Ended.ARGUMENTS:
            left, right = _arguments(finding)
            return f"{called} is given {left} in the first run and {right} in the second."
        case Ended.UNWRITTEN:
            return (
                f"{called} makes memory without content, and {_reader(finding)} reads it before "
                "any operator wrote to it."
            )
        case Ended.OUTSIDE:
            wrote = finding.wrote
            assert wrote is not None, "something equal was written before"
            return (
                f"What {called} reads was equal when {printable(wrote.name)} {_where(wrote)} "
                "wrote it, and differs when it is read: in between, something wrote to it that is "
                "no operator of this thread: another thread, numpy, or a kernel of one's own."
            )
        case Ended.THREADS:
            return (
                f"Threads take turns in another order in each run: {called} runs in one of them, "
                "and what it reads depends on whose turn came first."
            )
        case Ended.REORDERED:
            return _reordered_words(called, finding)
        case Ended.MOVED:
            return f"The program goes on with {called} after it, in another turn in each run."
        case Ended.ENTERED:
            return (
                f"The difference comes in from outside torch's operators (numpy, Python, a file or "
                f"another thread); {called} is the first that reads it."
            )
        case Ended.ONE_SIDED:
            return f"{called} was called in one of the runs only."
        case Ended.UNSEEN:
            return (
                "No operator that was seen returned this content, so it was made outside of "
                f"torch's operators; the last one before it is {called}."
            )


def _reader(finding: OperatorFinding) -> str:
    reader = finding.wrote
    return f"{printable(reader.name)} {_where(reader)}" if reader is not None else "something"


def _where(operator: Operator) -> str:
    line = printable(operator.line) or "an unknown line"
    if not operator.node:
        return f"at {line}"
    node = printable(operator.node)
    if operator.made and operator.made != operator.line:
        return f"at {line} (in {node}, made at {printable(operator.made)})"
    return f"in the backward of {line} ({node})"


def _reordered_words(called: str, finding: OperatorFinding) -> str:
    other_order = "the program makes the same calls in another order."
    if not finding.differing_arguments:
        return f"{called} works on the results of other calls in each run: {other_order}"
    left, right = _arguments(finding)
    return (
        f"{called} is given {left} in the first run and {right} in the second, and each run gives "
        f"what the other gives to another call of it: {other_order}"
    )


def _arguments(finding: OperatorFinding) -> tuple[str, str]:
    """The arguments that differ, in either run."""
    differing = finding.differing_arguments
    if not differing:
        return "other arguments", "others"
    first, second = zip(*differing, strict=True)
    return printable(", ".join(first)), printable(", ".join(second))
