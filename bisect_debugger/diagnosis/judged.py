"""A verdict with what is said of it."""

from dataclasses import dataclass

from bisect_debugger.diagnosis.model import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what the sentence says of it.

    Attributes:
        verdict: the verdict.
        words: a clause that says why the runs diverged; of an inconclusive verdict the whole
            sentence; or empty, where the origins say all.
    """

    verdict: Verdict
    words: str = ""
