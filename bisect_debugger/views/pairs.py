"""The pairs of several runs, and of several ranks, that can be held against each other."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.runs import RunFacts, open_run


@dataclass(frozen=True, slots=True)
class PairLine:
    """One pair.

    Attributes:
        a, b: the files.
        rank: of both.
        verdict: what is known about it, in a word or two.
        kept: what was kept of the first: of a twin's two passes, one has all steps and the other
            values.
    """

    a: str
    b: str
    rank: int
    verdict: str = "not compared yet"
    kept: str = ""


def kept_words(facts: RunFacts) -> str:
    """What a recording keeps: ``with values``, or ``all steps``; ``few steps`` of a window."""
    steps = "few steps" if facts.window else "all steps"
    if facts.level != "full":
        return steps
    # A second pass may end early without a window: it is not said to have all steps.
    return f"with values, {steps}" if facts.window else "with values"


def told_apart(paths: Sequence[str]) -> list[str]:
    """Paths without the folders that all of them share; a name alone where that is all."""
    found = [Path(path).absolute() for path in paths]
    shared = os.path.commonpath([path.parent for path in found])
    return [str(path.relative_to(shared)) for path in found]


def pairs_of(paths: Sequence[str | Path]) -> tuple[PairLine, ...]:
    """Every pair of runs of one rank, in the order of the files.

    Raises:
        UsageError: no two runs are of one rank.
        UnreadableRun: a file cannot be read.
    """
    ranks, kept = {}, {}
    for path in paths:
        with open_run(path) as run:
            ranks[path], kept[path] = run.facts.rank, kept_words(run.facts)
    found = tuple(
        PairLine(str(a), str(b), ranks[a], kept=kept[a])
        for a, b in combinations(paths, 2)
        if ranks[a] == ranks[b]
    )
    if not found:
        shown = ", ".join(f"{printable(str(path))} is rank {rank}" for path, rank in ranks.items())
        raise UsageError(f"No two of these runs are of one rank ({shown}); name twins of one rank.")
    return tuple(sorted(found, key=lambda pair: pair.rank))
