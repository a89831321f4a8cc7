"""How often pairs diverge, and how many equal ones are more than luck."""

import pytest

from bisect_debugger.diagnosis.model import Experiment, PairVerdict, Verdict
from bisect_debugger.driver.luck import CONFIDENCE, Baseline, baseline_of

EQUAL, DIVERGED, UNKNOWN = Verdict.BIT_EQUAL, Verdict.DIVERGED, Verdict.INCONCLUSIVE


def pairs(*verdicts: Verdict, onset: int = 4) -> list[PairVerdict]:
    return [
        PairVerdict("a.h5", "b.h5", verdict, onset if verdict is DIVERGED else None)
        for verdict in verdicts
    ]


def test_the_pair_that_was_chosen_because_it_diverged_tells_nothing_of_the_rate() -> None:
    assert baseline_of(pairs(DIVERGED), 2, None).rate == 1 / 2
    assert baseline_of(pairs(DIVERGED), 2, (DIVERGED, 4)).rate == 2 / 3
    assert baseline_of(pairs(DIVERGED), 2, (EQUAL, None)).rate == 1 / 3
    assert baseline_of(pairs(DIVERGED), 2, (UNKNOWN, None)).rate == 1 / 2


def test_of_runs_of_which_one_is_odd_all_pairs_with_it_tell_one_thing() -> None:
    # Four of five runs are equal, and the odd one is in four of the ten pairs.
    found = baseline_of(pairs(*(DIVERGED,) * 4, *(EQUAL,) * 6), 5, None)
    assert found.told == Experiment((), 10, 6, (4, 4, 4, 4))
    assert (found.diverged, found.pairs) == (0, 1.5)


def test_all_processes_of_a_job_are_one_pair() -> None:
    two_ranks = pairs(DIVERGED, onset=7) + pairs(DIVERGED, onset=5)
    assert baseline_of(two_ranks, 2, None).told == Experiment((), 1, 0, (5,))
    assert baseline_of(pairs(EQUAL, DIVERGED), 2, None).told == Experiment((), 1, 0, (4,))


def test_a_control_was_not_chosen_and_counts_whole() -> None:
    once = baseline_of(pairs(DIVERGED), 2, (DIVERGED, 4)).with_control(Experiment((), 1, 0, (4,)))
    assert once.rate == 3 / 4
    assert once.told == Experiment((), 3, 0, (4, 4, 4))
    shared = Baseline(Experiment((), 1, 0, (4,)), 0, 0).with_control(Experiment((), 3, 2, (4,)))
    assert shared.diverged == pytest.approx(2 / 3)
    assert shared.pairs == 2


@pytest.mark.parametrize(
    ("diverged", "worth", "repeats"), [(0, 0, 8), (1, 1, 5), (2, 2, 4), (9, 9, 2), (0, 1, 14)]
)
def test_what_diverges_rarely_is_repeated_more_often(
    diverged: int, worth: int, repeats: int
) -> None:
    found = Baseline(Experiment((), 1, 0, (0,)), diverged, worth)
    assert found.repeats == repeats
    assert found.luck(repeats) <= 1 - CONFIDENCE
    assert repeats == 2 or found.luck(repeats - 1) > 1 - CONFIDENCE


@pytest.mark.parametrize("odd", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("equal_pairs", [1, 3, 8])
def test_luck_is_never_told_smaller_than_it_is(odd: float, equal_pairs: int) -> None:
    """Where runs are of two kinds, and each pair's rate is known exactly."""
    kinds = (odd, 1 - odd)
    differing = 1 - sum(share**2 for share in kinds)
    many = 1e9
    known = Baseline(Experiment((), 1, 0, (0,)), many * differing, many)
    truth = sum(share ** (equal_pairs + 1) for share in kinds)
    assert known.luck(equal_pairs) >= truth * (1 - 1e-6)
