"""The benchmark of natural faults: a fixed part of it each time, all of it where time is given."""

from collections import Counter

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.knobs import KNOBS
from tests.causes.case import TRAINERS, Case, Clean
from tests.causes.cases import CASES, CLEAN
from tests.causes.held_out import HELD_OUT
from tests.causes.judging import judge

BY_NAME: dict[str, Case | Clean] = {case.script: case for case in (*CASES, *HELD_OUT, *CLEAN)}
OF_ONE_PAIR = (
    "tabular_shuffle",
    "finetune_late_seed",
    "dedup_rows",
    "noisy_actor",
    "gusty_glider",
    "decay_groups",
    "resume_unseeded",
    "budget_schedule",
)
"""Faults that every pair of runs shows, of eight kinds: chance has no part in a test."""

UNALARMING = (
    "clean_prefetch",
    "clean_resume",
    "clean_futures",
    "clean_replicas",
    "clean_kept_copies",
    "clean_peers",
)


@pytest.mark.parametrize("name", OF_ONE_PAIR)
def test_a_natural_fault_is_told_from_the_recordings(name: str) -> None:
    outcome = judge(BY_NAME[name], explain=False)
    assert outcome.verdict == "diverged"
    assert outcome.is_right_component, outcome.plain
    assert outcome.is_right_cause, outcome.plain


@pytest.mark.parametrize("name", UNALARMING)
def test_what_only_looks_like_a_fault_raises_no_alarm(name: str) -> None:
    assert judge(BY_NAME[name], explain=False).verdict == "bit-equal"


@pytest.mark.long
@pytest.mark.timeout(1000)
@pytest.mark.parametrize("name", BY_NAME)
def test_every_case_is_judged_right_and_proven(name: str) -> None:
    case = BY_NAME[name]
    outcome = judge(case, explain=True)
    if isinstance(case, Clean):
        assert outcome.verdict == "bit-equal"
        return
    assert outcome.is_right_component, outcome.explained
    assert outcome.is_right_cause, outcome.explained


def test_the_benchmark_holds_what_it_has_to() -> None:
    assert len(CASES) >= 40
    assert len(CLEAN) >= 12
    assert len({case.kind for case in CASES}) >= 8
    causes = Counter(case.causes[0] for case in CASES)
    # What nothing explains is no fault that somebody could make.
    assert {cause for cause in Cause if causes[cause] < 2} == {Cause.UNEXPLAINED}


def test_every_trainer_is_a_case_and_knows_nothing_of_it() -> None:
    assert {path.stem for path in TRAINERS.glob("*.py")} == set(BY_NAME)
    for case in BY_NAME.values():
        text = case.path.read_text(encoding="utf-8")
        assert f"Run: python {case.script}.py" in text
        assert 20 <= len(text.splitlines()) <= 80
        assert "bisect" not in text
        assert "probes" not in text


def test_every_expectation_can_be_met() -> None:
    for case in (*CASES, *HELD_OUT):
        assert isinstance(case, Case)
        assert case.components
        assert set(case.knobs) <= {knob.name for knob in KNOBS}
        # A line that a component names must stand in the script, once.
        assert not case.is_at("nothing of this name") or "*" in case.components
