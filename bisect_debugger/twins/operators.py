"""Where two streams of operators part: back from a differing content to what first made it differ.

Both runs' operators of a step are aligned like events. From the operator that returned the
differing content the walk goes back along inputs that differ: to the operator that last wrote their
memory with other content, and on. It ends where nothing that went in differs, at memory that nobody
wrote, at a content that no operator wrote, or at one that came in from outside torch.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from bisect_debugger.runs.operators import Operator, OperatorStream
from bisect_debugger.twins.align import align

_TAKES_STORAGE = "source_Storage"
"""How the overloads of ``aten::set_`` begin that are given a storage instead of a tensor."""


_EACH = re.compile(r", (?=\w+=)")
"""What stands between two arguments, and not within a list."""


class Ended(Enum):
    """What the walk back ended at."""

    KERNEL = "other results from equal inputs"
    DRAW = "drawn from a generator whose state differs"
    ARGUMENTS = "given other numbers"
    UNWRITTEN = "memory that was made without content"
    OUTSIDE = "written by something that is no operator"
    THREADS = "written by threads that take turns in another order"
    REORDERED = "given what another call returned"
    MOVED = "called in another turn"
    ENTERED = "came in from outside torch's operators"
    ONE_SIDED = "called in one run only"
    UNSEEN = "returned by no operator that was seen"


@dataclass(frozen=True, slots=True)
class OperatorFinding:
    """Where a difference began among the operators of a step.

    Attributes:
        ended: what was found.
        operator: in the first run, or in the second where only that has it.
        other: the same call in the second run, or None.
        wrote: for `Ended.OUTSIDE`, the last operator that wrote the memory with equal content.
        number: how many calls of the same operator stand before it in the step.
    """

    ended: Ended
    operator: Operator
    other: Operator | None
    wrote: Operator | None = None
    number: int = 0

    @property
    def differing_arguments(self) -> tuple[tuple[str, str], ...]:
        """Plain arguments, as ``name=value``, that are not the same in both runs."""
        if self.other is None:
            return ()
        sides = _EACH.split(self.operator.arguments), _EACH.split(self.other.arguments)
        return tuple((mine, yours) for mine, yours in zip(*sides, strict=False) if mine != yours)


class AlignedOperators:
    """The operators of one step of both runs, side by side."""

    def __init__(self, a: OperatorStream, b: OperatorStream) -> None:
        """Align the streams."""
        self.a, self.b = a.operators, b.operators
        ids: dict[tuple[str, str, str, bool], int] = {}
        matches = align(_keys(self.a, ids), _keys(self.b, ids), _results(self.a), _results(self.b))
        self._partner = {i: j for i, j, _ in matches if i is not None and j is not None}
        self._order = matches
        self._writers, self._writers_of_b = _writers(self.a), _writers(self.b)

    def explain(self, digests: tuple[str, str], events: int) -> OperatorFinding | None:
        """Where a differing content came from.

        Args:
            digests: of the content in either run.
            events: events of the step, in the first run, that stand before it.

        Returns:
            None where no operator that was seen has to do with it.
        """
        last = self._returned(digests, events)
        if last is not None:
            return self._back_from(last)
        read = self._given(digests)
        if read is not None:
            return self._back_from(*read)
        return self._nearest(events)

    def first_one_sided(self, events: int) -> OperatorFinding | None:
        """The first operator that one run alone called, before an event."""
        for i, j, _ in self._order:
            operator = self.a[i] if i is not None else self.b[j or 0]
            if operator.event > events:
                return None
            if i is None or j is None:
                return OperatorFinding(Ended.ONE_SIDED, operator, None)
        return None

    def next_called(self, events: int) -> OperatorFinding | None:
        """The first operator after an event that stands at another place in each run.

        Args:
            events: events of the step, in the first run, that stand before it.
        """
        following = (i for i, operator in enumerate(self.a) if operator.event > events)
        index = next(following, None)
        return None if index is None else OperatorFinding(Ended.MOVED, self.a[index], None)

    def _returned(self, digests: tuple[str, str], events: int) -> int | None:
        """The last operator before the event that returned the content in both runs."""
        earlier = [i for i, operator in enumerate(self.a) if operator.event <= events][::-1]
        for index in earlier:
            partner = self._partner.get(index)
            if partner is not None:
                sides = (self.a[index].returned, self.b[partner].returned)
                if digests in [(x.digest, y.digest) for x, y in zip(*sides, strict=False)]:
                    return index
        # Where threads take turns, the one that is last is another one in each run.
        if not any(_returns(operator, digests[1]) for operator in self.b):
            return None
        return next((i for i in earlier if _returns(self.a[i], digests[0])), None)

    def _given(self, digests: tuple[str, str]) -> tuple[int, tuple[int, int]] | None:
        """The first operator that was given the content, and the memory that it lay in.

        What is written piece by piece, through views, is returned by no operator as a whole.
        """
        for index, partner in sorted(self._partner.items()):
            sides = (self.a[index].given, self.b[partner].given)
            for x, y in zip(*sides, strict=False):
                if (x.digest, y.digest) == digests and x.memory in self._writers:
                    return index, (x.memory, y.memory)
        return None

    def _nearest(self, events: int) -> OperatorFinding | None:
        """The last operator before an event whose content none of them returned."""
        before = [i for i, operator in enumerate(self.a) if operator.event <= events]
        if not before:
            return None
        return self._finding(Ended.UNSEEN, before[-1])

    def _back_from(self, index: int, given: tuple[int, int] | None = None) -> OperatorFinding:
        """Walk back from an operator that returned the content, or was given it in a memory."""
        if given is not None:
            above = self._above(index, given)
            if isinstance(above, OperatorFinding):
                return above
            index = above
        # Where the walk begins at a content that came in another turn, the pair is equal.
        if index in self._partner and not self._differs(index):
            return self._in_another_turn(index)
        while True:
            partner = self._partner.get(index)
            if partner is None:
                ended = Ended.THREADS if self._is_beside(index) else Ended.ONE_SIDED
                return OperatorFinding(ended, self.a[index], None)
            operator, other = self.a[index], self.b[partner]
            if operator.generator is not None and operator.generator != other.generator:
                return self._finding(Ended.DRAW, index)
            if operator.arguments != other.arguments:
                if self._is_permuted(index, lambda each: each.arguments):
                    return self._in_another_turn(index)
                return self._finding(Ended.ARGUMENTS, index)
            differing = [
                (left.memory, right.memory)
                for left, right in zip(operator.given, other.given, strict=False)
                if left.digest != right.digest
            ]
            if not differing:
                return self._finding(_ended_at(operator), index)
            above = self._above(index, differing[0])
            if isinstance(above, OperatorFinding):
                return above
            index = above

    def _above(self, index: int, given: tuple[int, int]) -> int | OperatorFinding:
        """What wrote the differing content that an operator was given in a memory, in each run."""
        memory, others = given
        writers = [i for i in self._writers.get(memory, ()) if i < index]
        above = next((i for i in reversed(writers) if self._differs(i)), None)
        if not self._is_fed_alike(above, writers, others, self._partner[index]):
            return self._in_another_turn(index)
        return self._unwritten(index, memory, writers) if above is None else above

    def _is_fed_alike(
        self, above: int | None, writers: Sequence[int], memory: int, before: int
    ) -> bool:
        """In the second run the same calls wrote what the operator was given."""
        theirs = {i for i in self._writers_of_b.get(memory, ()) if i < before}
        if above is not None:
            return self._partner.get(above) is None or self._partner[above] in theirs
        return {self._partner.get(i) for i in writers} == theirs

    def _in_another_turn(self, index: int) -> OperatorFinding:
        ended = Ended.THREADS if self._is_beside(index) else Ended.REORDERED
        return self._finding(ended, index)

    def _unwritten(self, index: int, memory: int, writers: Sequence[int]) -> OperatorFinding:
        """Nobody wrote the differing content that an operator read."""
        if self._is_beside(index) and self._reads_in_turns(index, memory):
            return self._finding(Ended.THREADS, index)
        if not writers:
            first = self._first_reader(memory, index)
            if self._reads_in_turns(first, memory):
                return self._in_another_turn(first)
            return self._finding(Ended.ENTERED, first)
        if all(not any(r.digest for r in self.a[i].returned) for i in writers):
            return self._finding(Ended.UNWRITTEN, writers[-1], read_at=index)
        # Also what another thread writes later tells that it is shared.
        after_the_first = self._writers[memory][1:]
        shared = {self.a[i].thread for i in after_the_first} - {self.a[index].thread}
        if shared or self._is_beside(index):
            return self._finding(Ended.THREADS, index, wrote=writers[-1])
        return self._finding(Ended.OUTSIDE, index, wrote=writers[-1])

    def _is_beside(self, index: int) -> bool:
        """It was called in a thread beside the first one, where other ones may take turns."""
        return self.a[index].thread != self.a[0].thread

    def _is_permuted(self, index: int, what: Callable[[Operator], str]) -> bool:
        """Each run makes the other's call as well, from the same line, in another turn."""
        operator, other = self.a[index], self.b[self._partner[index]]
        mine = {what(each) for each in self.a if _same_call(each, operator)}
        yours = {what(each) for each in self.b if _same_call(each, operator)}
        return what(operator) in yours and what(other) in mine

    def _reads_in_turns(self, index: int, memory: int) -> bool:
        """The other run reads the same content by another call from the same line."""
        memories = [given.memory for given in self.a[index].given]
        place = memories.index(memory)
        return self._is_permuted(index, lambda each: _content_at(each, place))

    def _first_reader(self, memory: int, latest: int) -> int:
        """The first operator that was given a memory with other content in the other run."""
        for index, operator in enumerate(self.a[:latest]):
            partner = self._partner.get(index)
            if partner is None or all(given.memory != memory for given in operator.given):
                continue
            pairs = zip(operator.given, self.b[partner].given, strict=False)
            if any(x.memory == memory and x.digest != y.digest for x, y in pairs):
                return index
        return latest

    def _differs(self, index: int) -> bool:
        partner = self._partner.get(index)
        if partner is None:
            return True
        pairs = zip(self.a[index].returned, self.b[partner].returned, strict=False)
        return any(left.digest != right.digest for left, right in pairs)

    def _finding(
        self, ended: Ended, index: int, wrote: int | None = None, read_at: int | None = None
    ) -> OperatorFinding:
        partner = self._partner.get(index)
        operator = self.a[index]
        beside = wrote if wrote is not None else read_at
        return OperatorFinding(
            ended,
            operator,
            None if partner is None else self.b[partner],
            None if beside is None else self.a[beside],
            sum(_same_call(operator, earlier) for earlier in self.a[:index]),
        )


def _ended_at(operator: Operator) -> Ended:
    """What an operator is whose results differ although the tensors that went in are equal."""
    if not any(returned.digest for returned in operator.returned):
        return Ended.UNWRITTEN
    # A storage that it takes over, as a batch of a loader's worker, is no recorded content.
    return Ended.ENTERED if operator.overload.startswith(_TAKES_STORAGE) else Ended.KERNEL


def _returns(operator: Operator, digest: str) -> bool:
    return any(returned.digest == digest for returned in operator.returned)


def _content_at(operator: Operator, place: int) -> str:
    return operator.given[place].digest if place < len(operator.given) else ""


def _same_call(one: Operator, other: Operator) -> bool:
    return (one.name, one.overload, one.line) == (other.name, other.overload, other.line)


def _writers(operators: Sequence[Operator]) -> dict[int, list[int]]:
    """Which operators wrote to a memory, in their order."""
    found: dict[int, list[int]] = {}
    for index, operator in enumerate(operators):
        for returned in operator.returned:
            if returned.written and returned.memory >= 0:
                found.setdefault(returned.memory, []).append(index)
    return found


def _keys(operators: Sequence[Operator], ids: dict[tuple[str, str, str, bool], int]) -> list[int]:
    # Which thread of a pool takes a task is chance; that it is another one than the first is not.
    return [
        ids.setdefault(
            (each.name, each.overload, each.line, each.thread == operators[0].thread), len(ids)
        )
        for each in operators
    ]


def _results(operators: Sequence[Operator]) -> list[tuple[str, ...]]:
    return [tuple(returned.digest for returned in each.returned) for each in operators]
