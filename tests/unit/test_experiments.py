"""Experiments: how often a pair is repeated, and what their results prove."""

from pathlib import Path

import pytest

from bisect_debugger.causality.knobs import KNOBS, in_order_for
from bisect_debugger.diagnosis.model import Cause, Experiment
from bisect_debugger.driver.experiments import Bench, explain, repeats_for
from bisect_debugger.progress import Event, ExperimentBegan, ExperimentEnded
from probes.unedited.knobs import NAMES
from tests.builders import diagnosis, origin
from tests.runs import nudged, plain_steps, values, write_run

BASELINE = Experiment((), 2, 0, (1, 1))


def bench(tmp_path: Path, sound: set[str], said: list[Event], deadline: float = 1e18) -> Bench:
    """A trainer whose runs are equal only where all sound knobs are on."""
    count = iter(range(1000))

    def run(out: Path, knobs: tuple[str, ...]) -> list[Path]:
        out = out.with_name(f"{next(count)}.h5")
        steps = plain_steps()
        if not sound <= set(knobs):
            steps = plain_steps(s1_out=nudged(values(21), by=float(next(count))))
        write_run(out, steps)
        return [out]

    return Bench(run, tmp_path / "experiments", 4, 3, deadline, said.append)


def test_every_knob_has_a_meaning_and_a_place_in_the_trainer() -> None:
    assert {knob.name for knob in KNOBS} == set(NAMES)
    assert set(in_order_for(frozenset())) == set(NAMES)


def test_knobs_that_speak_for_the_cause_come_first() -> None:
    assert in_order_for(frozenset((Cause.UNINITIALISED_MEMORY,)))[0] == "fill-memory"
    assert in_order_for(frozenset((Cause.SIMULATOR,)))[:2] == ("entropy", "simulator-seed")


@pytest.mark.parametrize(
    ("diverged", "pairs", "repeats"), [(2, 2, 3), (1, 1, 3), (1, 2, 5), (1, 10, 17)]
)
def test_what_diverges_rarely_is_repeated_more_often(
    diverged: int, pairs: int, repeats: int
) -> None:
    assert repeats_for(diverged, pairs) == repeats


def test_one_knob_proves_the_origin_and_stands_first_in_evidence_and_advice(
    tmp_path: Path,
) -> None:
    found = diagnosis(origins=(origin(cause=Cause.RNG_STREAM),))
    said: list[Event] = []
    explained = explain(found, bench(tmp_path, {"entropy"}, said), BASELINE)
    assert explained.origins[0].proven
    assert explained.origins[0].evidence[0] == (
        "Proven: with `entropy` (the system's entropy replaced by a fixed stream) alone 3 of 3 "
        "pairs equal up to step 3; without, 2 of 2 pairs diverge, at step 1."
    )
    assert "seed" in explained.origins[0].advice[0]
    by_knobs = {experiment.knobs: experiment for experiment in explained.experiments}
    assert by_knobs[()] == BASELINE
    assert by_knobs["entropy",] == Experiment(("entropy",), 3, 3, ())
    assert by_knobs["hashseed",] == Experiment(("hashseed",), 1, 0, (1,))
    began, ended, *_ = said
    assert isinstance(began, ExperimentBegan)
    assert (len(began.knobs), began.shown) == (len(KNOBS), "all knobs")
    assert ended == ExperimentEnded("all knobs", "3 of 3 pairs equal up to step 3")
    assert not (tmp_path / "experiments").exists()


def test_two_faults_need_two_knobs(tmp_path: Path) -> None:
    found = diagnosis(
        origins=(origin(cause=Cause.RNG_STREAM), origin(cause=Cause.UNINITIALISED_MEMORY))
    )
    explained = explain(found, bench(tmp_path, {"entropy", "fill-memory"}, []), BASELINE)
    assert [each.proven for each in explained.origins] == [True, True]
    assert "together 3 of 3 pairs equal" in explained.origins[1].evidence[0]


def test_what_no_knob_changes_is_said(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(),))
    explained = explain(found, bench(tmp_path, {"no knob"}, []), BASELINE)
    assert not explained.origins[0].proven
    assert explained.remarks[0].startswith("With all knobs on, the twins diverge still")
    assert len(explained.experiments) == 2


def test_out_of_time_is_said_and_nothing_is_proven(tmp_path: Path) -> None:
    found = diagnosis(origins=(origin(),))
    said: list[Event] = []
    explained = explain(found, bench(tmp_path, {"entropy"}, said, deadline=0.0), BASELINE)
    assert not explained.origins[0].proven
    assert explained.experiments == (BASELINE,)
    assert "time ran out" in explained.remarks[0]
    assert said == []
