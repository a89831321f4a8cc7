"""compare, note and info on real files in real processes: output, streams, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.test_cli_bad_input import cli
from tests.runs import nudged, plain_steps, values, write_run

DOCUMENTED_KEYS = [
    "diagnosis_version",
    "verdict",
    "sentence",
    "runs",
    "compared",
    "onset",
    "first_visible",
    "origins",
    "dormant_streams",
    "trail",
    "experiments",
    "isolation",
    "pairs",
    "control",
    "remarks",
    "exhaustive",
]


def test_equal_runs_exit_0(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    done = cli("compare", a, b)
    assert done.returncode == 0
    assert done.stdout.startswith("Bit-equal: all 16 events from init to step 2 have the same bits")


def test_a_module_that_differs_from_equal_inputs(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    done = cli("compare", a, b, "--json", "-")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert list(found) == DOCUMENTED_KEYS
    assert found["verdict"] == "diverged"
    assert found["onset"] == {
        "step": 1,
        "group": "forward",
        "component": "net.head",
        "buffer": "net.head.out",
        "event": 8,
    }
    (origin,) = found["origins"]
    assert origin["cause"] == "forward-kernel"
    assert origin["source"] == "train.py:7"
    assert origin["metrics"]["differing"] == 1
    assert origin["metrics"]["elements"] == 12
    assert origin["metrics"]["first_index"] == [1, 1]
    assert origin["dormant"] is True
    assert found["experiments"] is None
    assert found["pairs"] == [{"a": str(a), "b": str(b), "verdict": "diverged", "onset_step": 1}]
    assert done.stderr.startswith("Diverged. 1 origin: net.head")


def test_all_pairs_of_three_runs_get_a_verdict(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    c = write_run(tmp_path / "c.h5", plain_steps(s0_out=nudged(values(20))))
    done = cli("compare", a, b, c, "--json", "-")
    found = json.loads(done.stdout)
    assert [pair["verdict"] for pair in found["pairs"]] == ["bit-equal", "diverged", "diverged"]
    assert [pair["onset_step"] for pair in found["pairs"]] == [None, 0, 0]
    assert done.returncode == 1


def test_within_a_tolerance_that_was_asked_for(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21), by=1e-5)))
    assert cli("compare", a, b, "--tolerance", "1e-3").returncode == 0
    assert cli("compare", a, b, "--tolerance", "1e-9").returncode == 1
    digests_a = write_run(tmp_path / "da.h5", plain_steps(), level="digest")
    digests_b = write_run(
        tmp_path / "db.h5", plain_steps(s1_out=nudged(values(21))), level="digest"
    )
    unknown = cli("compare", digests_a, digests_b, "--tolerance", "1e-3")
    assert unknown.returncode == 3
    assert unknown.stdout.startswith("Inconclusive")


def test_another_number_of_steps_is_said(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(3))
    b = write_run(tmp_path / "b.h5", plain_steps(2))
    done = cli("compare", a, b)
    assert done.returncode == 1
    assert "the first ends at step 2, the second at step 1" in done.stdout
    killed = write_run(tmp_path / "k.h5", plain_steps(2), end="incomplete", reason="disk full")
    done = cli("compare", a, killed)
    assert done.returncode == 3
    assert done.stdout.startswith("Inconclusive: everything that both runs recorded")
    assert "is incomplete (disk full); its last whole step is 1" in done.stdout


def test_level_coarse_names_step_and_group_and_says_what_it_lacks(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), level="coarse")
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))), level="coarse")
    done = cli("compare", a, b)
    assert done.returncode == 1
    assert "First difference in step 1, group forward; buffers were not recorded" in done.stdout


def test_a_missing_call_is_control_flow_at_its_place(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    steps = plain_steps()
    del steps[2][1]
    b = write_run(tmp_path / "b.h5", steps)
    found = json.loads(cli("compare", a, b, "--json", "-").stdout)
    assert found["onset"]["buffer"] == "net.head.in[0]"
    assert found["origins"][0]["cause"] == "control-flow"
    assert len(found["origins"]) == 1


def test_verbose_prints_what_the_ui_shows(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    text = cli("compare", "-v", a, b).stdout
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert headings[headings.index("Trail") :] == [
        "Trail",
        headings[headings.index("Trail") + 1],
        "What was compared",
        "All steps by groups",
        "Groups by step",
        "Components that each origin (>) reached, time to the right",
        "Events of step 1",
        "Code of origin 1, net.head.out in step 1",
        "Values of origin 1, net.head.out in step 1",
        "Growth of origin 1, net.head.out in step 1",
        "Experiments",
        "Facts of the runs, first against second",
    ]
    for words in ("1/12", "≠ forward      net.head.out"):
        assert words in text


def test_info_as_text_and_json(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.h5", plain_steps())
    assert "last_step: 2" in cli("info", run).stdout
    facts = json.loads(cli("info", run, "--json").stdout)
    assert facts["events"] == 16
    assert facts["buffers"] == {"param": 1, "data": 1, "forward": 2, "loss": 1}


def test_compare_never_imports_torch_or_textual(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bisect_debugger.cli", "compare", a, b],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "h5py" in imported
    assert not imported & {"torch", "textual", "probes"}


def test_the_gravest_pair_speaks_for_all(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    c = write_run(tmp_path / "c.h5", plain_steps(s1_out=nudged(values(21), by=1e-5)))
    done = cli("compare", a, b, c, "--tolerance", "1e-3")
    assert done.returncode == 0
    assert done.stdout.startswith("Within tolerance")


def test_all_counts_every_event_and_value(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    changed = plain_steps(s1_out=nudged(values(21)), s2_loss=values(99, ()))
    # The values of one differing event are of another shape, and one event is missing.
    changed[1][4] = (changed[1][4][0], changed[1][4][1], values(40, (2, 2)))
    del changed[2][0]
    b = write_run(tmp_path / "b.h5", changed)
    done = cli("compare", a, b, "--all", "--json", "-")
    assert done.returncode == 1
    found = json.loads(done.stdout)["exhaustive"]
    assert {key: found[key] for key in list(found)[:-1]} == {
        "steps": 4,
        "differing_steps": 3,
        "steps_only_a": 0,
        "steps_only_b": 0,
        "events": 16,
        "equal": 12,
        "moved": 0,
        "differing": 3,
        "one_sided": 1,
        "digest_only": 0,
        "other_layout": 1,
        "elements": 13,
        "differing_elements": 2,
        "beside": 0,
        "left_out": 0,
    }
    cells = {(cell["group"], cell["component"]): cell for cell in found["components"]}
    assert set(cells) == {
        ("data", "data.net"),
        ("param", "net.head"),
        ("forward", "net.head"),
        ("loss", "loss"),
    }
    assert cells["forward", "net.head"]["greatest"]["buffer"] == "net.head.out"
    assert cells["forward", "net.head"]["greatest"]["metrics"]["first_index"] == [1, 1]
    assert cells["param", "net.head"]["greatest"] is None

    text = cli("compare", a, b, "--all").stdout
    assert "4 of 16 events differ, in 3 of 4 steps" in text
    assert "of these 3 with other content, 1 in one run only" in text
    assert "2 by their values (2 of 13 elements differ, 15.4 %); 1 of another type or shape" in text
    assert "furthest apart: net.head.out in step 1, relFro" in text


def test_all_of_equal_runs_and_without_values(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{n}.h5", plain_steps(), level="digest") for n in "ab")
    other = plain_steps(s1_out=nudged(values(21)))
    c = write_run(tmp_path / "c.h5", other, level="digest")
    done = cli("compare", a, b, "--all")
    assert done.returncode == 0
    assert "Every event\n  0 of 16 events differ, in 0 of 4 steps" in done.stdout
    done = cli("compare", a, c, "--all")
    assert done.returncode == 1
    assert "other content: 1 by digest only, their values were not kept" in done.stdout
    coarse = [
        write_run(tmp_path / f"{n}.h5", s, level="coarse")
        for n, s in (("d", other), ("e", plain_steps()))
    ]
    done = cli("compare", *coarse, "--all")
    assert done.returncode == 1
    assert "1 of 4 steps differ; single events were not recorded (level coarse)" in done.stdout
