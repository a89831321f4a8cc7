"""Everything that the UI shows, as text: each section against the runs that it is made from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.diagnosis.model import Experiment
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.twins import Row, Status, open_pair
from bisect_debugger.twins.model import Seen
from bisect_debugger.views.buffer import without_values
from bisect_debugger.views.everything import render_everything, value_lines
from tests.runs import nudged, plain_steps, values, write_run

SAMPLE = Path(__file__).resolve().parents[2] / "sample_runs" / "two_origins"


def sections(text: str) -> dict[str, list[str]]:
    """Lines below each heading, without their indentation of two."""
    found: dict[str, list[str]] = {}
    for line in filter(None, text.splitlines()):
        if not line.startswith(" "):
            found[line] = body = []
        else:
            body.append(line[2:])
    return found


def everything(a: Path, b: Path) -> dict[str, list[str]]:
    with open_pair(a, b) as pair:
        return sections(render_everything(pair, diagnose_pair(pair)))


@pytest.fixture
def plain(tmp_path: Path) -> dict[str, list[str]]:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    return everything(a, b)


def test_values_with_the_differing_digits_marked_below(plain: dict[str, list[str]]) -> None:
    lines = plain["Values of origin 1, net.head.out in step 1"]
    assert lines[0] == "around the first difference, first run against second:"
    (differing,) = [number for number, line in enumerate(lines) if line.startswith(">")]
    left, right = values(21)[1, 1], nudged(values(21))[1, 1]
    middle = lines[differing].split()
    assert middle[:3] == [">", "(1,", "1)"]
    assert (np.float32(middle[3]), np.float32(middle[5])) == (left, right)
    bits = [f"0x{number.view(np.uint32):08x}" for number in (left, right)]
    assert [middle[4], middle[6]] == bits
    # A ^ stands under each nibble that differs, and under none that is equal.
    marks = lines[differing + 1].ljust(len(lines[differing]))
    for text in bits:
        at = lines[differing].index(text)
        other = bits[1 - bits.index(text)]
        expected = "".join(" ^"[x != y] for x, y in zip(text, other, strict=True))
        assert marks[at : at + 10] == expected
    assert "one character an element: # differs" in lines
    assert lines[lines.index("elements by distance in ULP:") + 1].endswith(f"{'#' * 24} 1")
    picture = [line for line in lines if line.startswith("|")]
    assert [line.count("#") for line in picture] == [0, 1, 0]


def test_the_whole_run_and_when_it_differs(plain: dict[str, list[str]]) -> None:
    lines = plain["All steps by groups"]
    assert lines[0].rstrip().endswith("  O")
    assert "forward ·=≠=" in lines
    assert lines[-1] == (
        "Something differs in 1 of 4 columns, the first of them step 1, the last step 1."
    )
    assert plain["Events of step 1"][0] == "step 1: 1 of 5 events differ, the others are equal"


def test_growth_and_facts(plain: dict[str, list[str]]) -> None:
    growth = plain["Growth of origin 1, net.head.out in step 1"]
    assert growth[0].startswith("relFro ")
    assert max(map(len, growth[1:])) <= 78
    assert sum(line.count("*") for line in growth) == 1
    facts = plain["Facts of the runs, first against second"]
    assert any(line.split()[:2] == ["level", "full"] for line in facts)


def test_without_values_it_is_said(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), level="digest")
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))), level="digest")
    found = everything(a, b)
    assert found["Values of origin 1, net.head.out in step 1"] == [
        "The contents differ, float32[3,4], and no values were recorded: record at level full to "
        "see them."
    ]


@pytest.mark.parametrize("level", ["coarse", "full"])
def test_equal_twins_say_what_was_compared(tmp_path: Path, level: str) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps(), level=level) for name in "ab")
    found = everything(a, b)
    assert found["What was compared"][0] == "Compared: 4 steps, init to step 2."
    assert found["All steps by groups"][-1] == "Nothing differs in any step."
    assert not [heading for heading in found if "origin" in heading]


def test_experiments_say_what_each_knob_did(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    tried = (Experiment((), 2, 0, (1, 1)), Experiment(("hashseed",), 3, 3, ()))
    with open_pair(a, b) as pair:
        diagnosis = replace(diagnose_pair(pair), experiments=tried)
        lines = sections(render_everything(pair, diagnosis))["Experiments"]
    assert lines[0] == "nothing changed: 0 of 2 pairs equal, diverged in step 1"
    assert "hashseed: 3 of 3 pairs equal" in lines
    assert "  hashseed: PYTHONHASHSEED fixed" in lines


def test_the_sample_tells_whom_each_origin_reached_and_its_code() -> None:
    found = everything(SAMPLE / "a.h5", SAMPLE / "b.h5")
    reached = found["Components that each origin (>) reached, time to the right"]
    assert [line.split()[1] for line in reached if line.startswith(">")] == [
        "agent.outcome_head",
        "agent.iqn_head.tau_sampler",
    ]
    assert reached[1].split()[:3] == ["agent.encoder", "step", "2"]
    code = found["Code of origin 2, agent.iqn_head.tau_sampler.out in step 0"]
    (named,) = [line for line in code if line.startswith(">")]
    number = int(named.split()[1])
    source = (SAMPLE / "train.py").read_text(encoding="utf-8").splitlines()
    assert named.split(maxsplit=2)[2] == source[number - 1].strip()


def test_hostile_names_do_nothing(tmp_path: Path) -> None:
    name = "net.\x1b[2J\n\u202e[red]w"
    a = write_run(tmp_path / "a.h5", [[(Group.PARAM, name, values(1))]])
    b = write_run(tmp_path / "b.h5", [[(Group.PARAM, name, nudged(values(1)))]])
    with open_pair(a, b) as pair:
        text = render_everything(pair, diagnose_pair(pair))
    assert "\\x1b[2J\\n\\u202e[red]w" in text
    assert not set(text) & set("\x1b\u202e")


def test_why_an_event_has_no_numbers_is_told_as_it_is() -> None:
    seen = Seen(0, (1, 2), Layout("float32", (2,)), EventFlag.NONE, 0)
    names = (Group.FORWARD, "net", "out", "", "net.out", 0, "")
    alone = Row(1, *names, seen, None, Status.ONE_SIDED)
    moved = Row(1, *names, seen, replace(seen, sequence=3), Status.EQUAL, moved=True)
    told = [value_lines(without_values(row, "full")) for row in (alone, moved)]
    assert told == [
        ["Only the first run has this event: the runs did not do the same things here."],
        ["Bit-equal, but at another place in the order of the step, float32[2]."],
    ]
