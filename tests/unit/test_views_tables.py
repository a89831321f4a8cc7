"""Experiments, reach, facts and states as frozen data and as words."""

from dataclasses import replace
from pathlib import Path

from bisect_debugger.diagnosis.model import Experiment, Isolation, Reached, Repeats, Verdict
from bisect_debugger.diagnosis.threads import RACED_WORDS
from bisect_debugger.format.groups import Group
from bisect_debugger.twins import open_pair
from bisect_debugger.views.experiments import experiment_lines, experiment_table
from bisect_debugger.views.facts import fact_rows
from bisect_debugger.views.pairs import told_apart
from bisect_debugger.views.reach import NOTHING_REACHED, bar, reach_lines, reaches
from bisect_debugger.views.states import compared_lines, compared_of, hint_lines
from tests.builders import diagnosis, equal_diagnosis, origin
from tests.runs import plain_steps, values, write_run


def test_an_experiment_says_what_it_did_and_what_follows() -> None:
    found = diagnosis(
        experiments=(
            Experiment((), 3, 0, (1, 1, 1)),
            Experiment(("hashseed",), 3, 3, ()),
            Experiment(("threads",), 3, 0, (7, 7, 7)),
            Experiment(("clock",), 3, 0, (1, 1, 1)),
            Experiment(("seed-all", "listing"), 3, 1, (1, 1)),
        ),
        isolation=Isolation(Repeats(20, 0), Repeats(20, 17)),
    )
    rows = experiment_table(found)
    assert [row.knobs for row in rows] == [
        "nothing changed",
        "hashseed",
        "threads",
        "clock",
        "seed-all + listing",
    ]
    assert rows[1].did == ("hashseed: PYTHONHASHSEED fixed",)
    assert rows[1].says.startswith("It takes the divergence away")
    assert rows[1].advice
    assert rows[2].says == "It only moves the onset: a second cause is left."
    assert rows[3].says == "It changes nothing about the divergence."
    assert rows[4].says.startswith("It takes the divergence away in some pairs")
    assert not rows[4].advice
    text = "\n".join(experiment_lines(found))
    assert "hashseed: 3 of 3 pairs equal" in text
    assert "In isolation, backward: 17 of 20 different." in text


def test_a_knob_of_another_version_is_shown_and_may_be_the_one() -> None:
    (row,) = experiment_table(diagnosis(experiments=(Experiment(("new\x1b",), 3, 3, ()),)))
    assert row.did == ("new\\x1b: a knob that this version does not know",)
    assert row.takes_away


def test_why_there_are_no_experiments_is_said() -> None:
    assert experiment_lines(equal_diagnosis())[0].startswith("Nothing diverged in the training")
    none_run = "No experiment was run on these twins."
    assert experiment_lines(diagnosis())[0].startswith(none_run)
    within = diagnosis(verdict=Verdict.WITHIN_TOLERANCE)
    assert experiment_lines(within)[0].startswith(none_run)
    elsewhere = (Path("runs/a.values.h5"), Path("runs/b\x1b.values.h5"))
    text = "\n".join(experiment_lines(diagnosis(), elsewhere))
    assert text.startswith("No experiment was run on this pair.")
    assert "\n  runs/a.values.h5 and runs/b\\x1b.values.h5\n" in text


def test_reach_has_a_bar_from_the_step_of_arrival() -> None:
    arrivals = (
        Reached(1, "net.trunk", "net.trunk.out", Group.FORWARD),
        Reached(4, "optimizer", "x.exp_avg", Group.OPTIM),
    )
    found = diagnosis(
        origin(arrivals=arrivals), origin(component="net.other", arrivals=(), contaminated=())
    )
    found = replace(found, compared=replace(found.compared, last_step=9))
    first, second = reaches(found)
    assert [row.component for row in first.rows] == ["net.head", "net.trunk", "optimizer"]
    assert [row.filled for row in first.rows] == [0.0, 0.0, 0.75]
    assert (first.first_step, first.last_step) == (1, 4)
    assert len(second.rows) == 1
    assert NOTHING_REACHED in reach_lines([second])[1]
    assert bar(0.75, 8) == "      ##"
    assert bar(1.0, 8) == "       #"
    assert bar(0.0, 8) == "########"
    assert reaches(equal_diagnosis()) == ()


def test_what_differs_in_the_facts_stands_first(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), environment={"torch": "2.13", "os": "L"})
    b = write_run(tmp_path / "b.h5", plain_steps(), environment={"torch": "2.12", "os": "L"})
    with open_pair(a, b) as pair:
        rows = fact_rows(pair.a.facts, pair.b.facts)
    assert (rows[0].name, rows[0].a, rows[0].b, rows[0].differs) == ("torch", "2.13", "2.12", True)
    assert not any(row.differs for row in rows[1:])
    assert {"os", "level", "rank", "ended"} <= {row.name for row in rows[1:]}


def test_what_was_compared_is_said_of_runs_of_other_length_and_structure(tmp_path: Path) -> None:
    longer = plain_steps(4)
    longer[2].append((Group.FORWARD, "net.extra.out", values(9)))
    a = write_run(tmp_path / "a.h5", longer)
    b = write_run(tmp_path / "b.h5", plain_steps(2))
    with open_pair(a, b) as pair:
        lines = compared_lines(compared_of(pair))
    text = "\n".join(lines)
    assert lines[0] == "Compared: 3 steps, init to step 1."
    assert "The runs are not equally long" in text
    assert "Only the first run has net.extra.out: it is another program there." in text
    assert "Only the second run" not in text


def test_each_dead_end_has_a_way_on() -> None:
    assert "--control" in hint_lines(equal_diagnosis())[0]
    assert "record both" in hint_lines(equal_diagnosis(verdict=Verdict.INCONCLUSIVE))[0]
    raced = equal_diagnosis(verdict=Verdict.INCONCLUSIVE, sentence=RACED_WORDS)
    assert hint_lines(raced) == []
    assert hint_lines(equal_diagnosis(verdict=Verdict.DIVERGED)) == []
    found = diagnosis()
    assert found.onset is not None
    assert hint_lines(found) == []
    assert "at level full" in hint_lines(replace(found, verdict=Verdict.INCONCLUSIVE))[0]
    coarse = replace(found, onset=replace(found.onset, buffer=""))
    assert "level digest" in hint_lines(coarse)[0]
    first = replace(found, compared=replace(found.compared, first_step=1))
    assert "first recorded step" in hint_lines(first)[0]
    window = replace(found, compared=replace(found.compared, window_start=1))
    assert "first recorded step" in hint_lines(window)[0]


def test_paths_are_told_apart_by_what_they_do_not_share(tmp_path: Path) -> None:
    assert told_apart(["x/1/a.h5", "x/1/b.h5"]) == ["a.h5", "b.h5"]
    assert told_apart(["x/1/a.h5", "x/2/a.h5"]) == ["1/a.h5", "2/a.h5"]
    assert told_apart([str(tmp_path / "a.h5"), str(tmp_path / "s" / "b.h5")]) == ["a.h5", "s/b.h5"]
    assert told_apart(["/a.h5", "b.h5"])[0] == "a.h5"
