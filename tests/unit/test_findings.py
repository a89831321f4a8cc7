"""What more runs told is told again of the very runs it was told of, and of no others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import REMEDIES, Cause
from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.diagnosis.findings import NAME, experimented_on, keep
from bisect_debugger.diagnosis.model import Excerpt, Experiment, Isolation, Repeats, Zoom
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.report.text import render_diagnosis
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
            with_origins(plain, (origin, *plain.origins[1:])),
            experiments=(Experiment(("clock",), 3, 3, ()),),
            isolation=ISOLATION,
            remarks=("A remark.", *plain.remarks),
        )
        keep(diagnosis, plain, pair)
    return diagnosis


def test_it_is_told_again(twins: tuple[Path, Path]) -> None:
    diagnosis = explained(*twins)
    assert told(*twins) == diagnosis


@pytest.mark.parametrize("cause", [Cause.SIMULATOR, Cause.DATA_ORDER])
def test_a_cause_that_was_proven_is_told_again_and_named_in_the_sentence(
    twins: tuple[Path, Path], cause: Cause
) -> None:
    with open_pair(*twins) as pair:
        plain = diagnose_pair(pair)
        named = replace(with_cause(plain.origins[0], cause, ("Do this.",)), proven=True)
        diagnosis = with_origins(plain, (named, *plain.origins[1:]))
        keep(diagnosis, plain, pair)
    assert plain.origins[0].cause is not cause
    assert f"({cause.value}, " in diagnosis.sentence
    assert diagnosis.trail[-1].answer == cause.value
    again = told(*twins)
    assert again.sentence == diagnosis.sentence
    assert again.origins[0] == named
    # That samples are the same in another order was not seen in these runs.
    meaning = REMEDIES[cause].meaning
    assert (meaning in again.origins[0].evidence) is (cause is Cause.SIMULATOR)


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
        {"isolation": {"forward": []}},
        {"remarks": [1]},
        {"remarks": ["r"] * 10_000},
        {"remarks": ["r" * 10_000]},
        {"experiments": [{"knobs": [], "pairs": 1, "equal_pairs": 0, "onset_steps": [10**400]}]},
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


def test_a_strangers_words_do_nothing_to_a_terminal(twins: tuple[Path, Path]) -> None:
    explained(*twins)
    path = twins[0].with_name(NAME)
    value = json.loads(path.read_text(encoding="utf-8"))
    hostile = "\x1b[2J\x07\u202e\ud800\n"
    value["remarks"] = [hostile]
    value["origins"][0].update(evidence=[hostile], advice=[hostile], operator=hostile)
    value["isolation"].update(component=hostile, script=hostile)
    value["experiments"][0]["knobs"] = [hostile]
    path.write_text(json.dumps(value), encoding="utf-8")
    for full in (False, True):
        shown = render_diagnosis(told(*twins), trail=full)
        assert "\\x1b[2J" in shown
        assert all(letter.isprintable() for letter in shown.replace("\n", ""))


def test_other_pairs_are_told_which_one_has_experiments(twins: tuple[Path, Path]) -> None:
    a, b = twins
    c = write_run(a.with_name("c.h5"), plain_steps())
    with open_pair(a, c) as pair:
        assert experimented_on(pair) is None
    explained(a, b)
    with open_pair(a, c) as pair:
        assert experimented_on(pair) == (a, b)
    with open_pair(a, b) as pair:
        assert experimented_on(pair) is None, "it has them itself"
    kept = json.loads(a.with_name(NAME).read_bytes())
    for runs in ([["../x"], ["b.h5"]], [[], ["b.h5"]], "a.h5", [[0], [1]]):
        a.with_name(NAME).write_text(json.dumps({**kept, "runs": runs}))
        with open_pair(a, c) as pair:
            assert experimented_on(pair) is None, runs
