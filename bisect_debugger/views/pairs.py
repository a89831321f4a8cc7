"""The pairs of several runs, and of several ranks, that can be held against each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.runs import open_run


@dataclass(frozen=True, slots=True)
class PairLine:
    """One pair.

    Attributes:
        a, b: the files.
        rank: of both.
        verdict: what is known about it, in a word or two.
    """

    a: str
    b: str
    rank: int
    verdict: str = "not compared yet"


def pairs_of(paths: Sequence[str | Path]) -> tuple[PairLine, ...]:
    """Every pair of runs of one rank, in the order of the files.

    Raises:
        UsageError: no two runs are of one rank.
        UnreadableRun: a file cannot be read.
    """
    ranks = {}
    for path in paths:
        with open_run(path) as run:
            ranks[path] = run.facts.rank
    found = tuple(
        PairLine(str(a), str(b), ranks[a])
        for a, b in combinations(paths, 2)
        if ranks[a] == ranks[b]
    )
    if not found:
        shown = ", ".join(f"{printable(str(path))} is rank {rank}" for path, rank in ranks.items())
        raise UsageError(f"No two of these runs are of one rank ({shown}); name twins of one rank.")
    return tuple(sorted(found, key=lambda pair: pair.rank))
