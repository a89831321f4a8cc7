"""The experiments: what each knob changed, how many pairs were equal, and what that says."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_debugger.causality.knobs import KNOBS, Knob, knobs_words
from bisect_debugger.diagnosis.model import Diagnosis, Experiment, Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.words import step_words
from bisect_debugger.report.zoom import isolation_words

_NOTHING_DIVERGED = "Nothing diverged in the training of these twins, so there was nothing to try."

_NONE_RUN = (
    "No experiment was run on these twins. `bisect-debugger twin --explain -- CMD` runs them again "
    "with one condition changed at a time, and says which change takes the divergence away."
)

_ELSEWHERE = (
    "No experiment was run on this pair. `twin --explain` runs the trainer again under changed "
    "conditions, with all its ranks, for the one pair that says most, and keeps with it what came "
    "of that:\n  {} and {}"
)


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One changed condition.

    Attributes:
        knobs: names of what was changed, joined; ``nothing changed`` for the control pairs.
        did: what each knob changed, a clause each.
        pairs, equal: how many pairs ran, and how many of them were equal.
        onsets: where the others parted, in words.
        says: what follows from it, a sentence.
        advice: what to do about it; empty where it took nothing away.
    """

    knobs: str
    did: tuple[str, ...]
    pairs: int
    equal: int
    onsets: str
    says: str
    advice: tuple[str, ...]

    @property
    def takes_away(self) -> bool:
        """Every pair was equal under a changed condition."""
        return bool(self.did) and 0 < self.pairs == self.equal

    @property
    def onset_words(self) -> str:
        """Where pairs parted, a clause; empty where none did."""
        return f"diverged in {self.onsets}" if self.onsets else ""


def none_lines(diagnosis: Diagnosis, elsewhere: tuple[Path, Path] | None) -> list[str]:
    """Why a pair has no experiments.

    Args:
        diagnosis: of the pair.
        elsewhere: the pair beside it that has some, or None.
    """
    if elsewhere is not None:
        shown = (printable(str(path), 1000) for path in elsewhere)
        return [*_ELSEWHERE.format(*shown).splitlines(), *isolation_lines(diagnosis)]
    if diagnosis.verdict is Verdict.BIT_EQUAL:
        return [_NOTHING_DIVERGED]
    return [_NONE_RUN, *isolation_lines(diagnosis)]


def experiment_table(diagnosis: Diagnosis) -> tuple[ExperimentRow, ...]:
    """Every experiment in the order in which it was run."""
    before = next((x.onset_steps for x in diagnosis.experiments if not x.knobs), ())
    if not before and diagnosis.onset is not None:
        before = (diagnosis.onset.step,)
    return tuple(_row(experiment, before) for experiment in diagnosis.experiments)


def best_row(rows: Sequence[ExperimentRow]) -> int | None:
    """The fewest changes that take the divergence away; None where nothing does."""
    helping = [index for index, row in enumerate(rows) if row.takes_away]
    return min(helping, key=lambda index: len(rows[index].did), default=None)


def _row(experiment: Experiment, before: tuple[int, ...]) -> ExperimentRow:
    known = {knob.name: knob for knob in KNOBS}
    chosen = [known[name] for name in experiment.knobs if name in known]
    everything = len(chosen) == len(KNOBS)
    helped = experiment.pairs > 0 and experiment.equal_pairs == experiment.pairs
    onsets = ", ".join(step_words(step) for step in sorted(set(experiment.onset_steps)))
    return ExperimentRow(
        printable(knobs_words(experiment.knobs)) or "nothing changed",
        tuple(_did(name, known.get(name)) for name in experiment.knobs),
        experiment.pairs,
        experiment.equal_pairs,
        onsets,
        _says(experiment, helped, before),
        tuple(knob.advice for knob in chosen) if helped and not everything else (),
    )


def _did(name: str, knob: Knob | None) -> str:
    """What a knob changes; a file may name one that this version does not know."""
    meaning = knob.meaning if knob is not None else "a knob that this version does not know"
    return f"{printable(name)}: {meaning}"


def _says(experiment: Experiment, helped: bool, before: tuple[int, ...]) -> str:
    if not experiment.knobs:
        return "The twins as they are, for comparison."
    if helped:
        return "It takes the divergence away in every pair that was run."
    if experiment.equal_pairs:
        return "It takes the divergence away in some pairs: chance is left, or another cause."
    if before and experiment.onset_steps and min(experiment.onset_steps) > max(before):
        return "It only moves the onset: a second cause is left."
    return "It changes nothing about the divergence."


def isolation_lines(diagnosis: Diagnosis) -> list[str]:
    """What executing the culprit alone, again and again, has shown."""
    isolation = diagnosis.isolation
    if isolation is None:
        return ["In isolation: the culprit was not executed by itself."]
    if isolation.component:
        return [f"In isolation: {isolation_words(isolation)}"]
    return [
        f"In isolation, {name}: "
        + ("not run." if part is None else f"{part.different} of {part.repeats} different.")
        for name, part in (("forward", isolation.forward), ("backward", isolation.backward))
    ]


def experiment_lines(diagnosis: Diagnosis, elsewhere: tuple[Path, Path] | None = None) -> list[str]:
    """All of it as plain text; the arguments are those of `none_lines`."""
    rows = experiment_table(diagnosis)
    if not rows:
        return none_lines(diagnosis, elsewhere)
    lines = []
    for row in rows:
        onsets = f", {row.onset_words}" if row.onsets else ""
        lines.append(f"{row.knobs}: {row.equal} of {row.pairs} pairs equal{onsets}")
        lines += [f"  {did}" for did in row.did]
        lines += [f"  => {row.says}", *(f"  try: {line}" for line in row.advice)]
    return [*lines, *isolation_lines(diagnosis)]
