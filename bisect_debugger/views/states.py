"""What is said where there is nothing else to show: what was compared, and why there is no more."""

from dataclasses import dataclass

from bisect_debugger.diagnosis.model import Diagnosis, Verdict
from bisect_debugger.diagnosis.survey import last_compared_row
from bisect_debugger.diagnosis.threads import RACED_WORDS
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair
from bisect_debugger.views.counts import counted


@dataclass(frozen=True, slots=True)
class Side:
    """One run in a few words."""

    path: str
    last: str
    end: str
    level: str


@dataclass(frozen=True, slots=True)
class Compared:
    """What two runs have in common, and what only one of them has.

    Attributes:
        a, b: either run.
        steps: common steps.
        first, last: the first and last of them, in words.
        only_a, only_b: names of buffers that one run alone has.
    """

    a: Side
    b: Side
    steps: int
    first: str
    last: str
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def compared_of(pair: Pair) -> Compared:
    """Read it off the runs."""
    last = last_compared_row(pair)
    keys_a, keys_b = ({buffer.key: None for buffer in run.buffers} for run in (pair.a, pair.b))
    return Compared(
        _side(pair.a),
        _side(pair.b),
        last + 1,
        step_words(pair.step_number(0)),
        step_words(pair.step_number(last)),
        tuple(name for group, name in keys_a if (group, name) not in keys_b),
        tuple(name for group, name in keys_b if (group, name) not in keys_a),
    )


def _side(run: Run) -> Side:
    return Side(
        str(run.path),
        step_words(run.last_closed_step),
        run.facts.end_reason or "ended normally",
        run.facts.level,
    )


def _side_words(side: Side) -> str:
    end, level = printable(side.end), printable(side.level)
    return f"{printable(side.path)}, up to {side.last}, {end}, level {level}"


def compared_lines(compared: Compared, names: int = 3) -> list[str]:
    """A line each: steps, ends, and what only one run has."""
    a, b = compared.a, compared.b
    lines = [
        f"Compared: {counted(compared.steps, 'step')}, {compared.first} to {compared.last}.",
        f"first:  {_side_words(a)}",
        f"second: {_side_words(b)}",
    ]
    if a.last != b.last:
        lines.append("The runs are not equally long; nothing is said about steps of one alone.")
    for which, only in (("first", compared.only_a), ("second", compared.only_b)):
        if only:
            listed = ", ".join(printable(name, 80) for name in only[:names])
            more = f" and {len(only) - names} more" if len(only) > names else ""
            lines.append(f"Only the {which} run has {listed}{more}: it is another program there.")
    return lines


def hint_lines(diagnosis: Diagnosis) -> list[str]:
    """What a person may try next, where the verdict alone leaves them standing."""
    onset = diagnosis.onset
    if diagnosis.verdict is Verdict.INCONCLUSIVE and diagnosis.sentence != RACED_WORDS:
        # Within a tolerance only values tell.
        values = ", at level full" if onset is not None else ""
        return [f"Too little can be compared to say more: record both runs to their end{values}."]
    if onset is None and diagnosis.verdict is not Verdict.BIT_EQUAL:
        # The sentence says it all: another end, another order, or threads that race.
        return []
    if onset is None:
        return [
            "Every event of the training that both runs recorded has the same digest. To be sure "
            "that the recording sees differences, run twin with --control and another seed."
        ]
    if not onset.buffer:
        return [
            "Single buffers were not recorded (level coarse): record at level digest to see which."
        ]
    first = diagnosis.compared.window_start
    if (
        first is not None and onset.step == first
    ) or onset.step == diagnosis.compared.first_step > -1:
        return [
            "This is the first recorded step: the runs may have differed before. Record from the "
            "beginning to know."
        ]
    return []
