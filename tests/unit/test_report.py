"""The plain text of a diagnosis, its table of groups, the events and values under it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.diagnosis.as_json import as_json
from bisect_debugger.diagnosis.model import Cause, Compared, PairVerdict, RunSummary, Verdict
from bisect_debugger.format.groups import Group
from bisect_debugger.report.grid import GroupGrid
from bisect_debugger.report.rows import render_rows
from bisect_debugger.report.table import render_grid
from bisect_debugger.report.text import render_diagnosis
from bisect_debugger.twins import Pair, open_pair
from tests.builders import diagnosis, difference, equal_diagnosis, full_diagnosis, origin
from tests.runs import nudged, plain_steps, values, write_run
from tests.unit.hostile import names

DEFAULT_TEXT = """\
Diverged. 1 origin(s).
Onset: net.head.out in step 1 (group forward, event 8).
First visible: loss in step 1.

1. net.head: forward-kernel
   net.head.out in step 1, group forward, model.py:7
   reached net.trunk (net.trunk.out.grad) in step 1
   first gradient of another component: net.trunk.out.grad in step 1
   1 / 12 elements differ (8.33 %)
   relFro 0.0004: more than rounding (1e-05) and less than another draw (0.1)
   greatest absolute difference 0.001 at index (1, 1), mean 8.33e-05
   greatest distance 8389 ULP
   first difference at index (1, 1): 1.5 against 1.501 (0x3fc00000 against 0x3fc020c5)
   why: Equal inputs.
   why: Equal parameters.
   why: 1 of 12 elements.
   try: Fix the order.
   try: Use one thread.
   confirm: Run it twice.
   (2 more with -v)

Compared 16 events, init to step 2; nothing is said about later steps."""


def test_a_diverged_diagnosis_in_full() -> None:
    assert render_diagnosis(diagnosis()) == DEFAULT_TEXT


def test_an_equal_diagnosis_is_two_lines() -> None:
    assert render_diagnosis(equal_diagnosis()) == (
        "Bit-equal.\n\nCompared 16 events, init to step 2; nothing is said about later steps."
    )


def test_one_step_is_no_span() -> None:
    found = equal_diagnosis(compared=Compared(5, 5, 3))
    assert "Compared 3 events, step 5; nothing" in render_diagnosis(found)


def test_verbose_leaves_nothing_out() -> None:
    second = origin(component="net.tau")
    text = render_diagnosis(diagnosis(origin(), second), trail=True)
    assert "why: It spread." in text
    assert "try: Look at the kernel." in text
    assert "reached: net.trunk" in text
    assert "more with -v" not in text
    trail = text.split("\nTrail\n")[1]
    assert trail.startswith("  Is it complete? -> yes  [looked at complete]\n")
    assert "Trail of origin 2\n  Is it presence? -> yes" in trail
    assert "  Conclusion -> forward-kernel\n" in trail


def test_a_distance_in_ulp_is_told_of_roundings_only() -> None:
    text = render_diagnosis(diagnosis(origin(difference=difference(rel_fro=1.1e-3))))
    assert "   relFro 0.0011: " in text
    assert "ULP" not in text
    assert "ULP" in render_diagnosis(diagnosis(origin(difference=difference(rel_fro=1e-3))))
    # The JSON keeps every number.
    found = diagnosis(origin(difference=difference(rel_fro=2.0)))
    assert json.loads(as_json(found))["origins"][0]["metrics"]["max_ulp"] == 8389


def test_the_advice_stands_once_for_each_cause() -> None:
    many = [
        origin(component=f"net.m{number}", evidence=("Equal inputs.", f"It is {number}."))
        for number in range(3)
    ]
    other = origin(component="net.seed", cause=Cause.UNSEEDED_INIT)
    text = render_diagnosis(diagnosis(many[0], other, *many[1:]))
    parts = text.split("\n\n")[1:5]
    assert [part.count("try: ") for part in parts] == [2, 2, 0, 0]
    assert parts[0].splitlines()[-6:] == [
        "   why: Equal inputs.",
        "   why: It is 0.",
        "   try: Fix the order.",
        "   try: Use one thread.",
        "   confirm: Run it twice.",
        "   (1 more with -v)",
    ]
    assert parts[3].splitlines()[-2:] == [
        "   why: It is 2.",
        "   why, try and confirm: as for 1",
    ]
    assert render_diagnosis(diagnosis(*many), trail=True).count("try: Look at the kernel.") == 1


def test_other_advice_for_the_same_cause_is_told() -> None:
    second = origin(component="net.tau", advice=("Look elsewhere.",))
    text = render_diagnosis(diagnosis(origin(), second))
    assert "   try: Look elsewhere." in text
    assert "as for" not in text


def test_many_origins_are_counted() -> None:
    many = [origin(component=f"net.m{number}") for number in range(12)]
    text = render_diagnosis(diagnosis(*many))
    assert "\n10. net.m9: " in text
    assert "net.m10" not in text
    assert "(2 more origins with -v)" in text
    assert "\n12. net.m11: " in render_diagnosis(diagnosis(*many), trail=True)


def test_dormancy_has_three_forms() -> None:
    asleep = origin(dormant=True, first_reached=None)
    assert "   dormant since step 1: it reached no other component" in render_diagnosis(
        diagnosis(asleep)
    )
    first = origin().first_reached
    assert first is not None
    woke = origin(step=-1, dormant=True, first_reached=replace(first, step=4))
    assert (
        "   dormant from init until step 4, when it reached net.trunk (net.trunk.out.grad)\n"
        in render_diagnosis(diagnosis(woke))
    )


def test_what_was_proven_and_what_is_outside_is_said() -> None:
    text = render_diagnosis(full_diagnosis())
    assert "1. net.head: forward-kernel, proven\n" in text
    assert text.split("\nRemarks\n")[1].split("\n\n")[0].splitlines() == [
        "  The environments differ in torch.",
        "  The control diverged, and so do the twins: it does not show that the seed matters.",
        "  Differs without reaching the training: rng.python.",
        "  Not covered: net.compiled",
    ]


def test_all_pairs_and_which_of_them_is_meant() -> None:
    found = diagnosis(
        pairs=(
            PairVerdict("a.h5", "b.h5", Verdict.BIT_EQUAL, None),
            PairVerdict("a.h5", "c.h5", Verdict.DIVERGED, 1),
        ),
        runs=(RunSummary("a.h5", 0, 3, 16, True), RunSummary("c.h5", 0, 3, 16, True)),
    )
    assert render_diagnosis(found).split("\nPairs\n")[1].split("\n\n")[0].splitlines() == [
        "  a.h5 b.h5: bit-equal",
        "  a.h5 c.h5: diverged in step 1",
        "  What stands above is about a.h5 and c.h5.",
    ]


@given(name=names)
def test_no_name_adds_a_line_or_controls_the_terminal(name: str) -> None:
    plain = render_diagnosis(diagnosis(), trail=True)
    found = diagnosis(
        origin(component=name, buffer=name, source=name or "x", contaminated=(name,)),
        pairs=(PairVerdict(name, name, Verdict.DIVERGED, 1),),
    )
    text = render_diagnosis(found, trail=True)
    assert len(text.splitlines()) == len(plain.splitlines()) - (0 if name else 1)
    assert all(line.isprintable() for line in text.splitlines())


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """The head's output differs in step 1, in one element, by 1e-3."""
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    with open_pair(a, b) as opened:
        yield opened


def test_the_table_shows_symbols_counts_and_then_names(pair: Pair) -> None:
    assert render_grid(GroupGrid.around(pair, diagnose_pair(pair))) == (
        "  group           step 0  step 1  step 2\n"
        "  data            =       =       =\n"
        "  K param         =       =       =\n"
        "  H forward       =       ≠ 1/2   =\n"
        "  loss            =       =       =\n"
        "  (= equal, ≠ differs, k/n: differing of all events)\n"
        "  (letters of determinism reports: K parameters, H inputs and outputs of modules)\n"
        "\n"
        "  step 1, forward DIVERGE: net.head.out (max 0.001)"
    )


def test_the_table_of_equal_twins_begins_at_init(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps(7)) for name in "ab")
    with open_pair(a, b) as pair:
        grid = GroupGrid.around(pair, diagnose_pair(pair))
    assert grid.steps == (-1, 0, 1, 2, 3)
    assert grid.groups == (Group.DATA, Group.PARAM, Group.FORWARD, Group.LOSS)
    assert {cell.word for row in grid.cells for cell in row} == {"EQUAL", "not recorded"}


def test_a_cell_names_the_two_greatest_and_counts_the_rest(tmp_path: Path) -> None:
    rows = [[(Group.PARAM, f"net.m{number}.weight", values(number)) for number in range(4)]]
    other = [
        [
            (group, name, nudged(array, by=10.0**-number))
            for number, (group, name, array) in enumerate(rows[0], 1)
        ]
    ]
    other[0].reverse()
    a, b = write_run(tmp_path / "a.h5", rows), write_run(tmp_path / "b.h5", other)
    with open_pair(a, b) as pair:
        grid = GroupGrid.around(pair, diagnose_pair(pair))
    ((cell,),) = grid.cells
    assert [named.name for named in cell.worst] == ["net.m0.weight", "net.m1.weight"]
    assert [named.max_abs for named in cell.worst] == pytest.approx([0.1, 0.01], rel=1e-3)
    assert (cell.word, cell.counts, cell.unnamed) == ("ALL DIVERGE", "4/4", 2)


def test_an_order_that_differs_alone_is_no_equality(tmp_path: Path) -> None:
    rows = [[(Group.PARAM, f"net.m{number}.weight", values(number)) for number in range(3)]]
    a = write_run(tmp_path / "a.h5", rows)
    b = write_run(tmp_path / "b.h5", [[rows[0][2], *rows[0][:2]]])
    with open_pair(a, b) as pair:
        grid = GroupGrid.around(pair, diagnose_pair(pair))
        text = render_rows(pair, 0)
    assert [cell.word for row in grid.cells for cell in row] == ["REORDERED"]
    assert "net.m2.weight (at another place in the order)" in text


def test_events_of_a_step_are_listed_in_order_and_counted(pair: Pair) -> None:
    lines = render_rows(pair, 2).splitlines()
    assert lines[0] == "  step 1: 1 of 5 events differ, the others are equal"
    assert lines[1].startswith("  ≠ forward      net.head.out  1/12  relFro ")
    assert lines[1].endswith("max 0.001")
    assert len(lines) == 2


def test_a_long_list_of_events_says_how_many_are_missing(tmp_path: Path) -> None:
    rows = [[(Group.PARAM, f"net.m{number}.weight", values(number)) for number in range(5)]]
    other = [[(group, name, nudged(array)) for group, name, array in rows[0]]]
    a, b = write_run(tmp_path / "a.h5", rows), write_run(tmp_path / "b.h5", other)
    with open_pair(a, b) as pair:
        lines = render_rows(pair, 0, most=3).splitlines()
    assert len(lines) == 5
    assert lines[-1] == "  and 2 more"


def test_events_that_one_run_lacks_and_nan_have_their_symbol(tmp_path: Path) -> None:
    broken = values(20)
    broken[1, 1] = np.nan
    steps = plain_steps(s0_out=broken)
    del steps[1][3]
    a = write_run(tmp_path / "a.h5", plain_steps())
    with open_pair(a, write_run(tmp_path / "b.h5", steps)) as pair:
        lines = render_rows(pair, 1).splitlines()
    assert lines[1].startswith("  ! forward      net.head.out")
    assert lines[2] == "  ∅ loss         loss  only in the first run"
