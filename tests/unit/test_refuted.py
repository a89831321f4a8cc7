"""What experiments refuted is said no longer, and that they did is."""

import pytest

from bisect_debugger.causality.causes import REMEDIES
from bisect_debugger.causality.knobs import KNOBS
from bisect_debugger.causality.refuting import FOLLOWED_BY, GUESSED
from bisect_debugger.causality.variants import VARIANTS
from bisect_debugger.diagnosis.model import Alternative, Cause, Diagnosis, Experiment, Origin
from bisect_debugger.diagnosis.refuted import NOTHING_LEFT, without_refuted
from bisect_debugger.format.groups import Group
from tests.builders import diagnosis, origin

BASELINE = Experiment((), 2, 0, (1, 1))
SEEDS = "Seed every stream before the first draw: random.seed(s)."
SETS = "Do not iterate over a set of strings: its order is another one."
OTHER = "Look at the code."


def vain(*knobs: str, step: int = 1) -> Experiment:
    return Experiment(knobs, 1, 0, (step,))


def told(*experiments: Experiment, **fields: object) -> Origin:
    (left,) = tried(*experiments, **fields).origins
    return left


def tried(*experiments: Experiment, **fields: object) -> Diagnosis:
    fields = {"advice": (SEEDS, SETS, OTHER), **fields}
    return without_refuted(diagnosis(origin(**fields), experiments=(BASELINE, *experiments)))


def test_advice_that_was_followed_in_vain_is_not_given() -> None:
    left = told(vain("seed-all"))
    assert left.advice == (SETS, OTHER)
    assert left.evidence[0] == (
        "Refuted: with seed-all (python, numpy and torch seeded before the program begins) the "
        "twins diverge still, in step 1."
    )
    assert told(vain("seed-all"), vain("hashseed")).advice == (OTHER,)


def test_of_all_knobs_together_each_is_refuted() -> None:
    every = vain(*(knob.name for knob in KNOBS))
    left = told(every)
    assert left.advice == (OTHER,)
    assert "(PYTHONHASHSEED fixed), and others beside, the twins diverge still" in left.evidence[1]
    assert told(every, advice=(SEEDS,)).advice == (NOTHING_LEFT,)


@pytest.mark.parametrize(
    "experiments",
    [(), (vain("seed-all", step=2),), (Experiment(("seed-all",), 3, 3, ()),), (vain("listing"),)],
)
def test_what_was_not_tried_or_helped_refutes_nothing(experiments: tuple[Experiment, ...]) -> None:
    assert told(*experiments) == origin(advice=(SEEDS, SETS, OTHER))


def test_several_knobs_follow_an_advice_together() -> None:
    advice = ("Look at the seeding calls in the note: a stream.",)
    assert told(vain("seed-all"), vain("entropy"), advice=advice).advice == advice
    assert told(vain("entropy", "seed-all"), advice=advice).advice == (NOTHING_LEFT,)


def test_a_guess_that_is_refuted_gives_way_to_the_next_one() -> None:
    guess = {
        "cause": Cause.WALL_CLOCK,
        "alternatives": (Alternative(Cause.OPTIMIZER_STATE, "It is state."),),
    }
    left = told(vain("clock"), **guess)
    assert left.cause is Cause.OPTIMIZER_STATE
    assert left.advice == REMEDIES[Cause.OPTIMIZER_STATE].advice
    assert not left.alternatives
    alone = tried(vain("clock"), cause=Cause.WALL_CLOCK)
    assert alone.origins[0].cause is Cause.UNEXPLAINED
    assert without_refuted(alone) == alone


def test_a_guess_that_stands_beside_is_dropped_where_it_is_refuted() -> None:
    beside = (Alternative(Cause.WALL_CLOCK, "A number differs."),)
    assert not told(vain("clock"), alternatives=beside).alternatives


def test_what_was_observed_is_no_guess() -> None:
    """A stream that was seeded with other numbers was, whatever made them so."""
    every = vain(*(knob.name for knob in KNOBS))
    left = told(every, cause=Cause.SEED_NOT_APPLIED, group=Group.RNG)
    assert left.cause is Cause.SEED_NOT_APPLIED


def test_of_several_origins_none_is_refuted_by_a_divergence_of_another() -> None:
    both = (origin(advice=(SEEDS,)), origin(component="rng.numpy", advice=(SETS,)))
    found = diagnosis(*both, experiments=(BASELINE, vain("seed-all", "hashseed")))
    assert without_refuted(found) == found


def test_every_entry_names_advice_that_is_given_and_knobs_that_there_are() -> None:
    lines = [line for known in (*REMEDIES.values(), *VARIANTS.values()) for line in known.advice]
    names = {knob.name for knob in KNOBS}
    for start, knobs in FOLLOWED_BY:
        assert any(line.startswith(start) for line in lines), start
        assert knobs <= names
    for knobs in GUESSED.values():
        assert knobs <= names


def test_of_knobs_that_are_proven_together_none_is_refuted_by_what_it_does_alone() -> None:
    both = Experiment(("hashseed", "seed-all"), 4, 4, ())
    left = told(vain("seed-all"), vain("hashseed"), both, proven=True)
    assert left.advice == (SEEDS, SETS, OTHER)
    assert not [words for words in left.evidence if words.startswith("Refuted")]
