"""The note of real run files: its sections, its table, and what a hostile file does to it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bisect_debugger.diagnosis import Diagnosis, diagnose_pair
from bisect_debugger.diagnosis.model import Cause, PairVerdict, Verdict
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.note import render_note
from bisect_debugger.note.conditions import render_environment
from bisect_debugger.note.origin import render_origins
from bisect_debugger.note.trail import render_trail
from bisect_debugger.runs import SeedingCall
from bisect_debugger.twins import open_pair
from tests.builders import diagnosis, difference, equal_diagnosis, facts, origin, trail_step
from tests.runs import Event, nudged, plain_steps, values, write_run
from tests.unit.hostile import NAMES, names
from tests.unit.markdown_reading import fences, foreign, headings, items, prose, tables
from tests.unit.mermaid_reading import read_flowchart


def note_of(a: Path, b: Path) -> tuple[str, Diagnosis]:
    with open_pair(a, b) as pair:
        found = diagnose_pair(pair)
        return render_note(found, pair), found


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """The head's output differs in step 1, in one element, by 1e-3."""
    environment = {"torch": "2.13.0", "argv": '["python", "train.py", "--tag", "two words"]'}
    a = write_run(tmp_path / "a.h5", plain_steps(), environment=environment)
    b = write_run(
        tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))), environment=environment
    )
    return a, b


def test_sections_stand_in_the_order_of_reading(twins: tuple[Path, Path]) -> None:
    note, _ = note_of(*twins)
    assert headings(note) == [
        "# Comparison of twins: diverged",
        "## Origin 1: net.head, forward-kernel",
        "## Groups by step",
        "## Trail",
        "## What was compared",
        "## Environment",
        "## How to reproduce",
    ]
    assert foreign(note) == set()
    assert note.split("\n\n")[1].startswith("Diverged. 1 origin: net.head (forward-kernel, step 1")


def test_the_table_has_groups_as_rows_and_steps_as_columns(twins: tuple[Path, Path]) -> None:
    note, _ = note_of(*twins)
    assert tables(note)[0] == [
        ["group", "step 0", "step 1", "step 2"],
        ["data", "EQUAL", "EQUAL", "EQUAL"],
        ["K param", "EQUAL", "EQUAL", "EQUAL"],
        ["H forward", "EQUAL", "DIVERGE 1/2: net.head.out (max 0.001)", "EQUAL"],
        ["loss", "EQUAL", "EQUAL", "EQUAL"],
    ]


def test_an_origin_has_its_numbers_in_decimal_and_hex(twins: tuple[Path, Path]) -> None:
    note, found = note_of(*twins)
    numbers = found.origins[0].difference
    assert numbers is not None
    shown = items(note)
    assert "1 / 12 elements differ (8.33 %)" in shown
    assert (
        f"first difference at index (1, 1): {numbers.first_a.decimal} against "
        f"{numbers.first_b.decimal} ({numbers.first_a.hex} against {numbers.first_b.hex})" in shown
    )
    assert any(line.startswith("relFro ") for line in shown)
    assert any(line.startswith("greatest absolute difference 0.001 at") for line in shown)
    assert numbers.rel_fro <= 1e-3
    assert f"greatest distance {numbers.max_ulp} ULP" in shown
    assert "dormant since step 1: it was not seen to reach another component" in shown


def test_under_the_table_stands_what_the_letters_mean(twins: tuple[Path, Path]) -> None:
    note, _ = note_of(*twins)
    assert (
        "(k/n: differing of all events; letters of determinism reports: K parameters, "
        "H inputs and outputs of modules)"
    ) in prose(note)


def test_a_distance_in_ulp_is_told_of_roundings_only() -> None:
    apart = origin(difference=difference(rel_fro=0.64, max_ulp=49970920))
    (section,) = render_origins([apart])
    assert any(line.startswith("relFro 0.64") for line in items(section))
    assert "ULP" not in section


def test_advice_stands_once_for_each_cause() -> None:
    first = origin(evidence=("Equal inputs.", "It is a."))
    second = origin(component="net.tau", evidence=("Equal inputs.", "It is b."))
    other = origin(component="net.seed", cause=Cause.UNSEEDED_INIT)
    sections = render_origins([first, other, second])
    assert all("Fix the order." in section for section in sections[:2])
    assert "Run it twice." in prose(sections[1])
    assert "Equal inputs." not in prose(sections[2])
    assert "It is b." in items(sections[2])
    assert "Fix the order." not in sections[2]
    assert (
        "The rest of the evidence, what to change and what would confirm it: as for origin 1."
        in prose(sections[2])
    )


def test_the_state_of_a_generator_has_no_numbers_at_any_level() -> None:
    (section,) = render_origins([origin(group=Group.RNG, difference=None)])
    assert "the state of a generator is kept as a digest only, so there are no numbers" in items(
        section
    )


def test_what_was_compared_names_the_last_step(twins: tuple[Path, Path]) -> None:
    note, _ = note_of(*twins)
    assert "Compared 16 events, init to step 2; nothing is said about later steps." in prose(note)
    assert [str(twins[0]), "0", "3", "16", "yes"] in tables(note)[1]


def test_equal_twins_have_a_short_note(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    note, _ = note_of(a, b)
    assert headings(note)[0] == "# Comparison of twins: bit-equal"
    assert not any("Origin" in heading for heading in headings(note))
    assert {cell for row in tables(note)[0][1:] for cell in row[1:]} == {"EQUAL", "not recorded"}
    chart = read_flowchart(fences(note, "mermaid")[0])
    assert chart.path("q0")[-1] == "none of them in training"


def _sleeping(steps: int, wakes: int) -> tuple[list[list[Event]], list[list[Event]]]:
    """A head that differs from init on, and an encoder whose gradient differs late."""
    runs = []
    for side in range(2):
        rows: list[list[Event]] = [[(Group.PARAM, "net.head.weight", values(side))]]
        for step in range(steps):
            awake = values(90 + step if side and step >= wakes else step)
            rows.append(
                [
                    (Group.DATA, "data.net.in[0]", values(50 + step)),
                    (Group.GRAD, "net.encoder.weight.grad", awake),
                    (Group.PARAM, "net.head.weight", values(side)),
                ]
            )
        runs.append(rows)
    return runs[0], runs[1]


def test_the_step_in_which_a_dormant_origin_woke_has_a_column(tmp_path: Path) -> None:
    left, right = _sleeping(steps=40, wakes=30)
    a, b = write_run(tmp_path / "a.h5", left), write_run(tmp_path / "b.h5", right)
    with open_pair(a, b) as pair:
        found = diagnose_pair(pair)
        head = found.origins[0]
        assert head.buffer == "net.head.weight"
        reached = replace(
            origin().first_reached or pytest.fail("the builder has it"),
            step=30,
            component="net.encoder",
            buffer="net.encoder.weight.grad",
        )
        woke = replace(head, dormant=True, first_reached=reached, first_gradient=reached)
        note = render_note(replace(found, origins=(woke,)), pair)
    table = tables(note)[0]
    assert table[0] == ["group", "init", "step 0", "step 1", "step 2", "step 3", "step 30"]
    grad = next(row for row in table if row[0] == "grad")
    assert grad[1:6] == ["not recorded", "EQUAL", "EQUAL", "EQUAL", "EQUAL"]
    assert grad[6].startswith("DIVERGE 1/1: net.encoder.weight.grad (max ")
    assert (
        "dormant from init until step 30, when it reached net.encoder (in net.encoder.weight.grad)"
        in items(note)
    )


def test_what_only_one_run_has_and_what_is_not_finite_is_said_in_the_cell(tmp_path: Path) -> None:
    broken = values(20)
    broken[0, 0] = np.nan
    steps = plain_steps(s0_out=broken)
    del steps[2][3]
    a = write_run(tmp_path / "a.h5", plain_steps())
    note, _ = note_of(a, write_run(tmp_path / "b.h5", steps))
    table = {row[0]: row[1:] for row in tables(note)[0]}
    assert table["H forward"][1] == "DIVERGE 1/2: net.head.out (NaN or Inf on one side)"
    assert table["loss"][2] == "DIVERGE 1/1: loss (in one run only)"


def test_within_a_tolerance_no_cell_says_diverge(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21), by=1e-5)))
    with open_pair(a, b) as pair:
        note = render_note(diagnose_pair(pair, tolerance=1e-3), pair)
    assert "DIVERGE" not in note
    assert "WITHIN TOLERANCE 1/2: net.head.out" in prose(note) + str(tables(note)[0])


def test_level_coarse_knows_no_buffers(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), level="coarse")
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))), level="coarse")
    note, _ = note_of(a, b)
    assert {row[0]: row[2] for row in tables(note)[0][1:]} == {
        "data": "EQUAL",
        "K param": "EQUAL",
        "H forward": "DIVERGE",
        "loss": "EQUAL",
    }


def test_every_origin_has_its_way_through_the_tree() -> None:
    second = origin(component="net.tau", trail=(trail_step("presence"), trail_step("is-x", "no")))
    trail = render_trail(diagnosis(origin(), second))
    chart = read_flowchart(fences(trail, "mermaid")[0])
    assert chart.path("q0") == [
        *("Is it complete?", "yes", "Is it first-step?", "step 1", "Is it origins?")
    ]
    assert [arrow for arrow in chart.arrows if arrow[0] == "q2"] == [
        ("q2", "net.head", "b1q0"),
        ("q2", "net.tau", "b2q0"),
    ]
    assert chart.path("b2q0") == [
        *("Is it presence?", "yes", "Is it is-x?", "no", "forward-kernel")
    ]
    assert "Is it is-x? no (looked at is-x)" in items(trail)
    assert items(trail).count("Conclusion: forward-kernel") == 2


def test_many_origins_are_counted_not_hidden() -> None:
    many = [origin(component=f"net.m{number}") for number in range(130)]
    sections = render_origins(many)
    assert len(sections) == 11
    listed = items(sections[-1])
    assert listed[0] == "net.m10, forward-kernel: net.head.out in step 1"
    assert len(listed) == 101
    assert listed[-1] == "and 20 more"
    assert "125 more origins were classified in the same way." in prose(
        render_trail(diagnosis(*many))
    )


def test_what_differs_in_the_environment_comes_first() -> None:
    call = SeedingCall("torch.manual_seed", "42", "train.py:9", -1)
    left = facts({"torch": "2.13.0", "python": "3.11.7"}, (call,))
    right = facts({"torch": "2.12.0", "python": "3.11.7"})
    section = render_environment(left, right)
    assert tables(section) == [
        [["differs", "first run", "second run"], ["torch", "2.13.0", "2.12.0"]],
        [["the same in both", "value"], ["python", "3.11.7"]],
    ]
    assert items(section) == ["torch.manual_seed(42) at train.py:9, init"]


def test_pairs_of_more_runs_have_a_table(twins: tuple[Path, Path]) -> None:
    pairs = (
        PairVerdict("a.h5", "b.h5", Verdict.BIT_EQUAL, None),
        PairVerdict("a.h5", "c.h5", Verdict.DIVERGED, -1),
    )
    with open_pair(*twins) as pair:
        note = render_note(replace(diagnose_pair(pair), pairs=pairs), pair)
    assert tables(note)[2] == [
        ["first run", "second run", "verdict", "onset"],
        ["a.h5", "b.h5", "bit-equal", ""],
        ["a.h5", "c.h5", "diverged", "init"],
    ]


@given(name=names)
def test_an_origin_shows_hostile_names_and_nothing_else(name: str) -> None:
    (section,) = render_origins(
        [
            origin(
                component=name,
                buffer=name,
                source=name,
                contaminated=(name, name),
                evidence=(name,),
                advice=(name,),
                confirm=name,
            )
        ]
    )
    assert foreign(section) == set()
    assert headings(section) == [f"## Origin 1: {printable(name) or ' '}, forward-kernel"]
    assert len(tables(section)) == 0
    assert len(items(section)) == 3 + 5 + 1 + 1


@given(name=names)
def test_a_trail_shows_hostile_names_and_nothing_else(name: str) -> None:
    step = trail_step("presence", name, question=f"Is it {name}?", evidence=name)
    trail = render_trail(diagnosis(origin(component=name, trail=(step,))))
    assert foreign(trail) == set()
    chart = read_flowchart(fences(trail, "mermaid")[0])
    assert chart.nodes["b1q0"] == f"Is it {printable(name)}?"
    assert chart.path("b1q0")[-1] == "forward-kernel"
    assert len(items(trail)) == 3 + 2
    alone = render_trail(equal_diagnosis(trail=(step,)))
    assert read_flowchart(fences(alone, "mermaid")[0]).nodes["c0"] == (printable(name) or " ")


@given(name=names)
def test_an_environment_shows_hostile_facts_and_nothing_else(name: str) -> None:
    call = SeedingCall(name, name, name, 0)
    section = render_environment(facts({"torch": name, name: "x"}, (call,)), facts())
    assert foreign(section) == set()
    (table,) = tables(section)
    assert {len(row) for row in table} == {3}
    assert len(items(section)) == 1


def test_a_hostile_file_makes_no_markup(tmp_path: Path) -> None:
    recorded = [name for name in NAMES if name.strip()]
    rows: list[list[Event]] = [[(Group.PARAM, f"net.{name}.w", values(1)) for name in recorded]]
    # Contents of their own, or one would be explained as a copy of another.
    rows.append(
        [(Group.FORWARD, f"net.{name}.out", values(n)) for n, name in enumerate(recorded, 2)]
    )
    environment = {name: name for name in NAMES if name and "\0" not in name}
    a = write_run(tmp_path / "a.h5", rows, environment=environment)
    rows[1] = [(group, name, nudged(array)) for group, name, array in rows[1]]
    b = write_run(tmp_path / "b.h5", rows, environment={"argv": '["\\u001b", "\\ud800"]'})
    note, found = note_of(a, b)
    assert foreign(note) == set()
    assert len(found.origins) >= len(recorded)
    for table in tables(note):
        assert {len(row) for row in table} == {len(table[0])}
    read_flowchart(fences(note, "mermaid")[0])
    assert "\x1b" not in note
    note.encode("utf-8")
