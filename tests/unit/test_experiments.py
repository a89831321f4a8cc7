"""Experiments: what their results prove, and what they do not."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import REMEDIES
from bisect_debugger.causality.knobs import KNOBS, alike, in_order_for, knob_called
from bisect_debugger.diagnosis.model import Cause, Experiment
from bisect_debugger.diagnosis.sentence import sentence_of
from bisect_debugger.driver.bench import Bench
from bisect_debugger.driver.experiments import explain
from bisect_debugger.driver.explaining import steps_past
from bisect_debugger.driver.luck import Baseline
from bisect_debugger.driver.patience import OutOfTime, Stuck
from bisect_debugger.driver.refining import refined
from bisect_debugger.format.groups import Group
from bisect_debugger.progress import Event, ExperimentBegan, ExperimentEnded, ExperimentsBegan
from probes.unedited.knobs import NAMES
from tests.builders import diagnosis, origin
from tests.runs import nudged, plain_steps, values, write_run

BASELINE = Baseline(Experiment((), 2, 0, (1, 1)), 1, 1)
SOMETIMES = Baseline(Experiment((), 2, 1, (1,)), 0, 1)
WITH_CONTROL = Experiment((), 3, 0, (1, 1, 1))


def bench(
    tmp_path: Path,
    sound: set[str],
    said: list[Event],
    deadline: float = 1e18,
    by_luck: tuple[str, ...] | None = None,
) -> Bench:
    """A trainer whose runs are equal only where all sound knobs are on, and once by luck."""
    count = iter(range(1000))

    def run(out: Path, knobs: tuple[str, ...]) -> list[Path]:
        out = out.with_name(f"{next(count)}.h5")
        steps = plain_steps()
        if not sound <= set(knobs) and knobs != by_luck:
            steps = plain_steps(s1_out=nudged(values(21), by=float(next(count))))
        write_run(out, steps)
        return [out]

    return Bench(run, tmp_path / "experiments", 4, 1, 3, deadline, said.append)


def only_once(control: Bench, afterwards: Bench) -> Bench:
    """A trainer that behaves in one way without a knob, and in another under every one."""
    without, under = control.run, afterwards.run

    def run(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        return under(out, knobs) if knobs else without(out, knobs)

    afterwards.run = run
    return afterwards


def test_every_knob_has_a_meaning_and_a_place_in_the_trainer() -> None:
    assert {knob.name for knob in KNOBS} == set(NAMES)
    assert set(in_order_for(frozenset())) == set(NAMES)


def test_knobs_that_speak_for_the_cause_come_first() -> None:
    assert in_order_for(frozenset((Cause.UNINITIALISED_MEMORY,)))[0] == "fill-memory"
    assert in_order_for(frozenset((Cause.SIMULATOR,)))[:2] == ("entropy", "simulator-seed")
    by_turns = in_order_for(frozenset((Cause.PREFETCH_INTERLEAVING,)))
    assert by_turns[:3] == ("workers", "switch", "turns")


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("other", [Cause.DATA_ORDER, Cause.REDUCTION_ORDER, Cause.SIMULATOR])
def test_the_hash_seed_is_tried_before_addresses_which_fix_it_as_well(
    cause: Cause, other: Cause
) -> None:
    order = in_order_for(frozenset((cause,)), frozenset((other,)))
    assert order.index("hashseed") < order.index("addresses")
    assert "addresses" in alike("hashseed")


def test_one_knob_proves_the_origin_and_stands_first_in_evidence_and_advice(
    tmp_path: Path,
) -> None:
    found = diagnosis(origins=(origin(cause=Cause.RNG_STREAM),))
    said: list[Event] = []
    explained = explain(found, bench(tmp_path, {"entropy"}, said), BASELINE)
    assert explained.origins[0].proven
    assert explained.origins[0].evidence[0] == (
        "Proven: with entropy (the system's entropy replaced by a fixed stream) alone 4 of 4 "
        "pairs equal up to step 2; without, 3 of 3 pairs diverge, at step 1 (at the rate seen, "
        "luck alone does that in 3.1 of 100 cases)."
    )
    assert "seed" in explained.origins[0].advice[0]
    by_knobs = {experiment.knobs: experiment for experiment in explained.experiments}
    assert by_knobs[()] == WITH_CONTROL
    assert by_knobs["entropy",] == Experiment(("entropy",), 4, 4, ())
    assert by_knobs["hashseed",] == Experiment(("hashseed",), 1, 0, (1,))
    control, differed, began, ended, *_ = said
    assert isinstance(control, ExperimentBegan)
    assert (control.shown, control.meaning) == ("no knob", "nothing, as a control")
    assert differed == ExperimentEnded("no knob", "diverged at step 1")
    assert isinstance(began, ExperimentBegan)
    assert (len(began.knobs), began.shown) == (len(KNOBS), "all knobs")
    assert ended == ExperimentEnded("all knobs", "4 of 4 pairs equal up to step 2")
    assert not (tmp_path / "experiments").exists()


def test_what_a_proof_takes_is_told_anew_after_the_control(tmp_path: Path) -> None:
    said: list[Event] = []
    made = bench(tmp_path, {"entropy"}, said)
    made.began = ExperimentsBegan(600.0, BASELINE.repeats, 1.0)
    explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert BASELINE.repeats == 5
    assert said.count(ExperimentsBegan(600.0, 4, 1.0)) == 1


def test_two_faults_need_two_knobs(tmp_path: Path) -> None:
    found = diagnosis(
        origins=(origin(cause=Cause.RNG_STREAM), origin(cause=Cause.UNINITIALISED_MEMORY))
    )
    explained = explain(found, bench(tmp_path, {"entropy", "fill-memory"}, []), BASELINE)
    assert [each.proven for each in explained.origins] == [True, True]
    assert "together 4 of 4 pairs equal" in explained.origins[1].evidence[0]
    # What each knob advises is said of the fault that it takes away.
    advice = [knob_called(name).advice for name in ("entropy", "fill-memory")]
    assert [[line in each.advice for line in advice] for each in explained.origins] == [
        [True, False],
        [False, True],
    ]


def test_what_no_knob_changes_is_said(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(),))
    explained = explain(found, bench(tmp_path, {"no knob"}, []), BASELINE)
    assert not explained.origins[0].proven
    assert explained.remarks[0].startswith("With all knobs on, the twins diverge still")
    assert len(explained.experiments) == 2


def test_what_is_equal_by_luck_is_no_proof_of_what_diverges_by_chance(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(cause=Cause.RNG_STREAM),))
    lucky = bench(tmp_path, {"clock"}, [], by_luck=("entropy",))
    explained = explain(found, lucky, SOMETIMES)
    by_knobs = {experiment.knobs: experiment for experiment in explained.experiments}
    assert by_knobs["entropy",].equal_pairs == by_knobs["entropy",].pairs
    assert "Proven: with clock " in explained.origins[0].evidence[0]
    assert by_knobs[tuple(knob.name for knob in KNOBS if knob.name != "clock")].onset_steps


def test_pairs_that_always_diverged_may_do_so_seldom_all_the_same(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(cause=Cause.FORWARD_KERNEL),))
    lucky = bench(tmp_path, {"clock"}, [], by_luck=("threads",))
    explained = explain(found, lucky, BASELINE)
    assert "Proven: with clock " in explained.origins[0].evidence[0]


def test_what_is_equal_with_and_without_every_knob_is_not_proven(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(cause=Cause.RNG_STREAM),))
    seldom = only_once(bench(tmp_path, {"no knob"}, []), bench(tmp_path, set(), []))
    explained = explain(found, seldom, BASELINE)
    assert len(explained.experiments) > len(KNOBS)
    assert not explained.origins[0].proven
    assert explained.remarks[0].startswith("Nothing is proven: the twins diverge too seldom.")


def test_of_knobs_that_do_the_same_the_likeliest_is_named(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(cause=Cause.PREFETCH_INTERLEAVING),))
    either = bench(tmp_path, {"switch"}, [], by_luck=("turns",))
    assert "Proven: with switch " in explain(found, either, BASELINE).origins[0].evidence[0]


def test_where_either_of_two_knobs_is_enough_both_off_are_the_contrast(tmp_path: Path) -> None:
    """As where the clock decides how many threads compute."""
    made = bench(tmp_path, {"no knob"}, [])
    run, equal = made.run, bench(tmp_path, set(), []).run
    made.run = lambda out, knobs: (equal if {"threads", "clock"} & set(knobs) else run)(out, knobs)
    explained = explain(diagnosis(origins=(origin(cause=Cause.ENVIRONMENT),)), made, BASELINE)
    assert "Proven: with threads " in explained.origins[0].evidence[0]
    tried = [experiment.knobs for experiment in explained.experiments]
    # What belongs to the same family has the same contrast, and cannot be told apart.
    assert ("switch",) not in tried
    family = ("workers", "threads", "switch", "turns", "deterministic")
    assert set(tried[-1]) == set(NAMES) - {"clock", *family}


def test_out_of_time_is_said_and_nothing_is_proven(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(),))
    said: list[Event] = []
    explained = explain(found, bench(tmp_path, {"entropy"}, said, deadline=0.0), BASELINE)
    assert not explained.origins[0].proven
    assert explained.experiments == (BASELINE.told,)
    assert "time ran out" in explained.remarks[0]
    assert said == []


def test_what_a_proof_says_of_the_cause_replaces_what_the_recordings_spoke_for(
    tmp_path: Path,
) -> None:
    found = diagnosis(origins=(origin(cause=Cause.RNG_STREAM, group=Group.DATA),))
    found = replace(found, sentence=sentence_of(found))
    explained = explain(found, bench(tmp_path, {"hashseed"}, []), BASELINE)
    assert "(rng-stream, " in found.sentence
    assert explained.sentence == found.sentence.replace("(rng-stream, ", "(data-order, ")
    (told,) = explained.origins
    assert (told.cause, told.proven) == (Cause.DATA_ORDER, True)
    assert told.alternatives[0].cause is Cause.RNG_STREAM
    assert told.confirm == REMEDIES[Cause.DATA_ORDER].confirm
    assert "sort it" in told.advice[0]


@pytest.mark.parametrize(
    ("cause", "group", "knob", "known"),
    [
        (Cause.RNG_STREAM, Group.REPLAY, "hashseed", Cause.SAMPLER_ORDER),
        (Cause.CONTROL_FLOW, Group.FORWARD, "clock", Cause.WALL_CLOCK),
        (Cause.SEED_NOT_APPLIED, Group.RNG, "clock", Cause.SEED_NOT_APPLIED),
        (Cause.UNEXPLAINED, Group.LOSS, "clock", Cause.WALL_CLOCK),
        (Cause.CONTROL_FLOW, Group.RNG, "clock", Cause.WALL_CLOCK),
        (Cause.RNG_STREAM, Group.RNG, "clock", Cause.WALL_CLOCK),
        (Cause.DATA_ORDER, Group.DATA, "entropy", Cause.RNG_STREAM),
        (Cause.RNG_STREAM, Group.FORWARD, "switch", Cause.FORWARD_KERNEL),
        (Cause.RNG_STREAM, Group.DATA, "switch", Cause.PREFETCH_INTERLEAVING),
        (Cause.RNG_STREAM, Group.DATA, "turns", Cause.PREFETCH_INTERLEAVING),
        (Cause.FORWARD_KERNEL, Group.FORWARD, "fill-memory", Cause.UNINITIALISED_MEMORY),
        (Cause.BACKWARD_KERNEL, Group.GRAD_SCRATCH, "turns", Cause.BACKWARD_KERNEL),
        (Cause.ENVIRONMENT, Group.FORWARD, "threads", Cause.ENVIRONMENT),
        (Cause.OPTIMIZER_ORDER, Group.OPTIM, "hashseed", Cause.OPTIMIZER_ORDER),
    ],
)
def test_the_cause_that_a_knob_speaks_for(
    cause: Cause, group: Group, knob: str, known: Cause
) -> None:
    assert refined(cause, group, knob) is known


def test_a_knob_alone_proves_every_origin_because_none_is_left(tmp_path: Path) -> None:
    origins = (origin(cause=Cause.RNG_STREAM), origin(cause=Cause.OPTIMIZER_STATE))
    explained = explain(diagnosis(origins=origins), bench(tmp_path, {"clock"}, []), BASELINE)
    assert [each.proven for each in explained.origins] == [True, True]


def test_too_few_pairs_for_want_of_time_prove_nothing_and_are_kept(tmp_path: Path) -> None:
    made = bench(tmp_path, {"entropy"}, [])
    run, runs = made.run, []

    def counted(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        runs.append(knobs)
        if len(runs) == 4:
            made.deadline = 0.0
        return run(out, knobs)

    made.run = counted
    explained = explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert "time ran out" in explained.remarks[0]
    assert [experiment.pairs for experiment in explained.experiments] == [3, 1]
    assert not explained.origins[0].proven


@pytest.mark.parametrize(
    ("onsets", "steps"), [((0,), 3), ((-1, -1), 3), ((7, 7), 10), ((3, 9), 16), ((-1, 1), 4)]
)
def test_runs_go_past_the_onset_as_far_as_it_moved(onsets: tuple[int, ...], steps: int) -> None:
    assert steps_past(onsets, 2) == steps


def test_nothing_runs_twice(tmp_path: Path) -> None:
    made = bench(tmp_path, {"entropy"}, [])
    explain(diagnosis(origins=(origin(),)), made, BASELINE)
    before = dict(made.done)
    assert before
    assert all(made.holds(knobs) is not None for knobs in before)
    assert made.done == before


def stick_with_turns(made: Bench) -> None:
    """Let every run under the knob `turns` be stuck."""
    run = made.run

    def stuck(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        if "turns" in knobs:
            raise Stuck(60.0)
        return run(out, knobs)

    made.run = stuck


def test_what_is_stuck_under_one_knob_is_proven_by_another(tmp_path: Path) -> None:
    said: list[Event] = []
    made = bench(tmp_path, {"entropy"}, said)
    stick_with_turns(made)
    explained = explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert explained.origins[0].proven
    # All that the trainer runs under are tried together, and all of these but the one.
    together, contrast = [
        experiment for experiment in explained.experiments if len(experiment.knobs) > 1
    ]
    assert "turns" not in together.knobs
    assert "entropy" not in contrast.knobs
    assert contrast.onset_steps == (1,)
    ended = [event.words for event in said if isinstance(event, ExperimentEnded)]
    assert ended[1] == "the trainer is stuck: it closed no step in 60 s, and was ended"


def test_what_is_stuck_under_all_knobs_costs_nothing_where_a_contrast_is_without_it(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path, {"switch"}, [])
    stick_with_turns(made)
    explained = explain(diagnosis(origins=(origin(cause=Cause.ASYNC_UPDATE),)), made, BASELINE)
    assert explained.origins[0].proven
    # The control, the knob and its contrast; none of the others has to be tried.
    assert [len(each.knobs) for each in explained.experiments] == [0, 1, len(KNOBS) - 5]


def test_what_is_equal_before_it_comes_to_the_onset_is_no_proof(tmp_path: Path) -> None:
    said: list[Event] = []
    made = bench(tmp_path, {"clock"}, said)
    run, long = made.run, plain_steps()

    def short_with_clock(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        if "clock" not in knobs:
            return run(out, knobs)
        # The time is over sooner, as the clock counts how often it is asked.
        return [write_run(out, long[:2])]

    made.run = short_with_clock
    explained = explain(diagnosis(origins=(origin(cause=Cause.WALL_CLOCK),)), made, BASELINE)
    assert not explained.origins[0].proven
    assert "(without clock), the twins diverge still" in explained.remarks[0]
    assert (
        ExperimentEnded(
            "clock",
            "equal, but only up to step 0, where the runs end; without a knob they diverged at "
            "step 1, so nothing can be said of it",
        )
        in said
    )


def test_a_set_of_knobs_that_is_enough_by_luck_is_not_proven(tmp_path: Path) -> None:
    made = bench(tmp_path, {"no knob"}, [])
    run, equal = made.run, bench(tmp_path, set(), []).run

    def by_luck(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        lucky = len(knobs) == len(KNOBS) or {"entropy", "seed-all"} <= set(knobs)
        others = len(knobs) > 1 and not {"entropy", "seed-all"} & set(knobs)
        return (equal if lucky or others else run)(out, knobs)

    made.run = by_luck
    explained = explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert not explained.origins[0].proven


def test_what_is_equal_with_one_knob_is_not_proven_before_the_others_were_tried_instead(
    tmp_path: Path,
) -> None:
    made = bench(tmp_path, {"entropy"}, [])
    run = made.run

    def until_the_contrast(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        if len(KNOBS) > len(knobs) > 1:
            made.deadline = 0.0
            raise OutOfTime
        return run(out, knobs)

    made.run = until_the_contrast
    explained = explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert made.holds(frozenset(("entropy",)))
    assert not explained.origins[0].proven
    assert "time ran out" in explained.remarks[0]


def test_a_run_that_is_cut_off_leaves_the_pairs_before_it(tmp_path: Path) -> None:
    made = bench(tmp_path, {"entropy"}, [])
    run, runs = made.run, []

    def cut_off(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        runs.append(knobs)
        if len(runs) == 5:
            made.deadline = 0.0
            raise OutOfTime
        return run(out, knobs)

    made.run = cut_off
    explained = explain(diagnosis(origins=(origin(),)), made, BASELINE)
    assert "time ran out" in explained.remarks[0]
    assert [experiment.pairs for experiment in explained.experiments] == [3, 1]


def test_what_does_not_come_again_without_a_knob_is_not_proven_by_one(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(),))
    explained = explain(found, bench(tmp_path, set(), []), SOMETIMES)
    assert not explained.origins[0].proven
    assert explained.remarks[0].startswith("Nothing is proven: twins are equal now without any")
    # Whatever is equal now is equal under every knob, so none is tried.
    assert explained.experiments == (Experiment((), 5, 4, (1,)),)
