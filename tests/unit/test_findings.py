"""What more runs told is told again of the very runs it was told of, and of no others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.diagnosis.findings import NAME, keep
from bisect_debugger.diagnosis.model import (
    Alternative,
    Excerpt,
    Experiment,
    Isolation,
    Repeats,
    Zoom,
)
from bisect_debugger.diagnosis.sentence import retold
from bisect_debugger.twins import open_pair
from tests.runs import nudged, plain_steps, values, write_run

ZOOM = Zoom("kernel", "aten::mm", "", "m.py:3", "net", "", 0, Excerpt(2, ("a", "b")))
ISOLATION = Isolation(Repeats(20, 3), None, "net.head", script="repro/repro.py")


def told(a: Path, b: Path) -> Diagnosis:
    with open_pair(a, b) as pair:
        return diagnose_pair(pair)


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    write_run(a, plain_steps())
    write_run(b, plain_steps(s1_out=nudged(values(21), by=1e-3)))
    return a, b


def explained(a: Path, b: Path) -> Diagnosis:
    with open_pair(a, b) as pair:
        plain = diagnose_pair(pair)
        origin = replace(
            plain.origins[0],
            proven=True,
            zoom=ZOOM,
            location="m.py:3",
            evidence=("Proven: so it is.", *plain.origins[0].evidence),
        )
        diagnosis = replace(
            plain,
            origins=(origin, *plain.origins[1:]),
            experiments=(Experiment(("clock",), 3, 3, ()),),
            isolation=ISOLATION,
            remarks=("A remark.", *plain.remarks),
        )
        keep(diagnosis, plain, pair)
    return diagnosis


def test_it_is_told_again(twins: tuple[Path, Path]) -> None:
    diagnosis = explained(*twins)
    assert told(*twins) == diagnosis


def test_a_cause_that_a_proof_renamed_keeps_its_name(twins: tuple[Path, Path]) -> None:
    with open_pair(*twins) as pair:
        plain = diagnose_pair(pair)
        before = plain.origins[0]
        assert before.cause is not Cause.WALL_CLOCK
        renamed = replace(
            before,
            cause=Cause.WALL_CLOCK,
            proven=True,
            evidence=("Proven.",),
            advice=("Freeze the clock.",),
            confirm="Run it under another clock.",
            alternatives=(Alternative(before.cause, "The recordings alone spoke for it."),),
        )
        diagnosis = retold(replace(plain, origins=(renamed, *plain.origins[1:])), plain)
        keep(diagnosis, plain, pair)
    assert "(wall-clock, step 1" in diagnosis.sentence
    assert told(*twins) == diagnosis


def test_runs_that_took_the_names_are_told_nothing(twins: tuple[Path, Path]) -> None:
    explained(*twins)
    a, b = twins
    b.unlink()
    write_run(b, plain_steps(s1_out=nudged(values(21), by=2e-3)))
    again = told(a, b)
    assert (again.experiments, again.isolation, again.origins[0].proven) == ((), None, False)
    assert told(b, a).isolation is None


@pytest.mark.parametrize(
    "change",
    [
        {"experiments": 3},
        {"origins": [{"step": "1"}]},
        {"origins": [{"step": 1, "group": "forward", "buffer": "net.head.out", "cause": "bad"}]},
        {"isolation": {"forward": []}},
        {"remarks": [1]},
    ],
)
def test_a_damaged_file_is_said_and_left_out(
    twins: tuple[Path, Path], change: dict[str, object]
) -> None:
    explained(*twins)
    path = twins[0].with_name(NAME)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    again = told(*twins)
    assert "findings.json" in again.remarks[-1]
    assert again.experiments == ()
