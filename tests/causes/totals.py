"""What the benchmark prints: a line for each case, and the totals with what is required."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.causes.case import Case, Clean
from tests.causes.judging import Outcome

RIGHT_COMPONENT, RIGHT_CAUSE, PROVEN = 0.95, 0.90, 0.75
"""Shares that are required: of all faults, and proven of those that an experiment can decide."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many of how many.

    Attributes:
        faults: trainers with a fault.
        component, cause, plain_cause: right ones; the last without experiments.
        decidable, proven: faults that an experiment can decide, and those that one did.
        clean, false_alarms: trainers without a fault, and those that were said to have one.
        explained: experiments were made.
    """

    faults: int
    component: int
    cause: int
    plain_cause: int
    decidable: int
    proven: int
    clean: int
    false_alarms: int
    explained: bool

    @property
    def holds(self) -> bool:
        """Everything that is required holds."""
        return (
            self.component >= RIGHT_COMPONENT * self.faults
            and self.cause >= RIGHT_CAUSE * self.faults
            and (not self.explained or self.proven >= PROVEN * self.decidable)
            and self.false_alarms == 0
        )

    def lines(self) -> list[str]:
        """The totals in words."""
        lines = [
            "",
            f"component right      {_share(self.component, self.faults)}  required 95 %",
            f"cause right          {_share(self.cause, self.faults)}  required 90 %",
            f"  without experiments {_share(self.plain_cause, self.faults)}",
        ]
        if self.explained:
            lines.append(
                f"proven               {_share(self.proven, self.decidable)}  required 75 % of "
                "those that an experiment can decide"
            )
        lines.append(f"false alarms         {self.false_alarms} of {self.clean} clean trainers")
        lines.append("holds" if self.holds else "DOES NOT HOLD")
        return lines


def totals_of(outcomes: Sequence[Outcome], *, explained: bool) -> Totals:
    """Count."""
    faults = [(o, o.case) for o in outcomes if isinstance(o.case, Case)]
    decidable = [outcome for outcome, case in faults if case.knobs]
    clean = [outcome for outcome in outcomes if isinstance(outcome.case, Clean)]
    return Totals(
        faults=len(faults),
        component=sum(outcome.is_right_component for outcome, _ in faults),
        cause=sum(outcome.is_right_cause for outcome, _ in faults),
        plain_cause=sum(outcome.is_right_unexplained for outcome, _ in faults),
        decidable=len(decidable),
        proven=sum(outcome.explained.proven for outcome in decidable),
        clean=len(clean),
        false_alarms=sum(outcome.verdict != "bit-equal" for outcome in clean),
        explained=explained,
    )


def line_of(outcome: Outcome) -> str:
    """One case in a line."""
    case = outcome.case
    if isinstance(case, Clean):
        word = "right" if outcome.verdict == "bit-equal" else "FALSE ALARM"
        return f"{case.script:24} {word:12} clean, {outcome.verdict} ({outcome.seconds:.0f} s)"
    marks = (
        "right" if outcome.is_right_component else "WRONG",
        "right" if outcome.is_right_cause else "WRONG",
        "proven" if outcome.explained.proven else "-",
    )
    told = f"{outcome.explained.component} {outcome.explained.cause}"
    notes = [
        f"alone: {outcome.plain.cause}" if outcome.plain.cause != outcome.explained.cause else "",
        f"with {'+'.join(outcome.knobs)}" if outcome.knobs else "",
        outcome.verdict if outcome.verdict != "diverged" else "",
        f"try {outcome.tries}" if outcome.tries > 1 else "",
    ]
    words = "; ".join(note for note in notes if note)
    return f"{case.script:24} {' '.join(f'{m:6}' for m in marks)} {told} ({words})"


def _share(some: int, of: int) -> str:
    return f"{some:3} of {of:3} ({100 * some / of if of else 100:5.1f} %)"
