"""The nodes of a decision tree: questions and the conclusions they lead to."""

from collections.abc import Callable
from dataclasses import dataclass

from bisect_debugger.causality.case import Answer, Case, Finding
from bisect_debugger.causality.causes import REMEDIES, Cause, Remedy
from bisect_debugger.causality.looks import LOOKS
from bisect_debugger.causality.variants import VARIANTS


@dataclass(frozen=True, slots=True)
class Question:
    """An inner node.

    Attributes:
        text: the question as a person reads it.
        look: what answers it: the name of one of `looks.LOOKS`, or a function of a case.
        yes: id of the next node.
        no: id of the next node.
        not_recorded: id of the next node where the recording does not tell.
        doubtful: answers that are likely rather than certain, so that the other branch is told as
            well.
    """

    text: str
    look: str | Callable[[Case], Finding]
    yes: str
    no: str
    not_recorded: str
    doubtful: frozenset[Answer] = frozenset()

    def ask(self, case: Case) -> Finding:
        """The answer for an origin, with what it rests on."""
        answer = LOOKS[self.look] if isinstance(self.look, str) else self.look
        return answer(case)

    @property
    def branches(self) -> tuple[str, str, str]:
        """Ids of the nodes that it may lead to."""
        return self.yes, self.no, self.not_recorded


@dataclass(frozen=True, slots=True)
class Leaf:
    """A conclusion.

    Attributes:
        cause: kind of fault.
        variant: names what is known beyond the cause, in `variants.VARIANTS`; or empty.
        known: what is said instead of that, for leaves of a tree of one's own.
    """

    cause: Cause
    variant: str = ""
    known: Remedy | None = None

    @property
    def remedy(self) -> Remedy:
        """What is known about it."""
        if self.known is not None:
            return self.known
        return VARIANTS[self.variant] if self.variant else REMEDIES[self.cause]


Node = Question | Leaf

EITHER = frozenset((Answer.YES, Answer.NO))
YES = frozenset((Answer.YES,))
"""Answers that are judgements. A no that rests on nothing having been seen speaks for nothing."""


def ask(
    text: str,
    look: str,
    yes: str,
    no: str,
    not_recorded: str = "",
    *,
    judged: frozenset[Answer] = frozenset(),
) -> Question:
    """A question of the shipped tree; what is not recorded leads where a no does by default."""
    return Question(text, look, yes, no, not_recorded or no, judged)
