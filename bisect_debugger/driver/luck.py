"""How likely it is that twins are equal under a knob by luck, and how many pairs rule that out.

Three things would make luck look smaller than it is, and are counted out. Twins are explained
because a pair of them diverged: that pair was chosen for it, and tells nothing of how often the
others do. Pairs that share a run tell less than as many that share none. And what several processes
of one job tell is told by one pair of runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bisect_debugger.diagnosis.model import Experiment, PairVerdict, Verdict
from bisect_debugger.format.schema import INIT_STEP

CONFIDENCE = 0.95
"""How sure "equal with this knob" has to be, given how often pairs diverge without it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Pairs of runs without a knob.

    Attributes:
        told: all of them, as they are reported.
        diverged: how many of the pairs below diverged.
        pairs: as many pairs as these are worth that neither share a run nor were chosen because
            they diverged.
    """

    told: Experiment
    diverged: float
    pairs: float

    @property
    def rate(self) -> float:
        """How likely the next pair diverges: (diverged + 1) / (pairs + 2).

        Laplace's rule of succession ("Essai philosophique sur les probabilites", 1814): the mean of
        the rate, where nothing is known of it before the pairs. For two runs, of which one pair
        diverged and was chosen for it, and ``n`` pairs in all with ``d`` diverged, it is
        ``d / (n + 1)``.
        """
        return (self.diverged + 1) / (self.pairs + 2)

    def luck(self, equal_pairs: int) -> float:
        """Most that so many equal pairs of one first run are likely if the knob changes nothing.

        Runs of one trainer fall into kinds of equal ones with probabilities ``p``; two are equal
        with ``s = sum(p**2) = 1 - rate``, and ``m`` are with ``sum(p**m)``, which is at most
        ``s**(m / 2)``, because the m-norm of ``p`` is at most its 2-norm. So ``m`` runs are worth
        ``m / 2`` pairs that share none.
        """
        return float((1 - self.rate) ** _apart(equal_pairs))

    @property
    def repeats(self) -> int:
        """Equal pairs in a row under a knob that are luck at most one time in twenty."""
        apart = math.log(1 - CONFIDENCE) / math.log(1 - self.rate)
        return max(2, math.ceil(2 * apart - 1))

    def with_control(self, control: Experiment) -> "Baseline":
        """Further pairs without a knob, all with one first run; none was chosen."""
        told = Experiment(
            (),
            self.told.pairs + control.pairs,
            self.told.equal_pairs + control.equal_pairs,
            (*self.told.onset_steps, *control.onset_steps),
        )
        worth = _apart(control.pairs) / control.pairs if control.pairs else 0.0
        return replace(
            self,
            told=told,
            diverged=self.diverged + worth * len(control.onset_steps),
            pairs=self.pairs + worth * control.pairs,
        )


def _apart(pairs: int) -> float:
    """Pairs that share no run, of which these that share their first are worth as many."""
    return (pairs + 1) / 2


def baseline_of(
    pairs: Sequence[PairVerdict],
    runs: int,
    second: tuple[Verdict, int | None] | None,
    ends: int = INIT_STEP,
) -> Baseline:
    """What the passes before the experiments tell of how often pairs diverge.

    Args:
        pairs: of all runs of the first pass; those of a job's first process, then of its second.
        runs: of the first pass, at least two.
        second: verdict and onset of the pair of the second pass, where there was one.
        ends: where pairs part of which only the ends differ: the last step that both have.
    """
    count = runs * (runs - 1) // 2
    first = [_of_one_pair(pairs[place::count]) for place in range(count)]
    # A pair of which nothing can be said is no pair.
    judged = [pair for pair in first if pair[0] is not Verdict.INCONCLUSIVE]
    # All pairs of some runs are worth half as many as there are runs.
    each = 1 / (runs - 1)
    diverged = each * sum(verdict is Verdict.DIVERGED for verdict, _ in judged)
    diverged, worth = max(diverged - 1, 0.0), max(each * len(judged) - 1, 0.0)
    if second is not None and second[0] is not Verdict.INCONCLUSIVE:
        judged.append(second)
        diverged, worth = diverged + (second[0] is Verdict.DIVERGED), worth + 1
    onsets = [step for verdict, step in judged if verdict is Verdict.DIVERGED]
    known = tuple(step if step is not None else ends for step in onsets)
    told = Experiment((), len(judged), len(judged) - len(onsets), known)
    return Baseline(told, diverged, worth)


def _of_one_pair(processes: Sequence[PairVerdict]) -> tuple[Verdict, int | None]:
    """What all processes of two runs tell: the gravest verdict, and the earliest onset."""
    verdict = max((each.verdict for each in processes), key=lambda verdict: verdict.gravity)
    onsets = [each.onset_step for each in processes if each.onset_step is not None]
    return verdict, min(onsets, default=None)


def luck_words(experiment: Experiment, baseline: Baseline) -> str:
    """How likely as many equal pairs are if the knob changes nothing."""
    luck = baseline.luck(experiment.equal_pairs)
    return f"at the rate seen, luck alone does that in {100 * luck:.2g} of 100 cases"
