"""Files that compare and note write: never by accident, never over a run, always the same."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command_line import cli, in_bash
from tests.runs import nudged, plain_steps, values, write_run


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Twins that diverge in step 1."""
    a = write_run(tmp_path / "a.h5", plain_steps())
    return a, write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))


def refused(done: "subprocess.CompletedProcess[str]", words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_compare_writes_json_and_note_beside_its_text(
    twins: tuple[Path, Path], tmp_path: Path
) -> None:
    as_json, note = tmp_path / "d.json", tmp_path / "note.md"
    done = cli("compare", *twins, "--json", as_json, "--note", note)
    assert done.returncode == 1
    assert done.stdout.startswith("Diverged. 1 origin: net.head (forward-kernel, step 1")
    assert json.loads(as_json.read_text())["verdict"] == "diverged"
    assert note.read_text() == cli("note", *twins, "-o", "-").stdout


def test_note_exits_with_0_and_tells_the_verdict(twins: tuple[Path, Path], tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    done = cli("note", *twins, "-o", note)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Diverged. 1 origin: net.head (forward-kernel, step 1")
    assert note.read_text().startswith("# Comparison of twins: diverged\n")


def test_a_folder_stands_for_its_second_pass_where_that_parted(tmp_path: Path) -> None:
    first = [write_run(tmp_path / name, plain_steps()) for name in ("a.h5", "b.h5")]
    assert cli("compare", tmp_path).stdout == cli("compare", *first).stdout
    names = ("a.values.h5", "b.values.h5")
    second = [write_run(tmp_path / name, plain_steps()) for name in names]
    # A race that did not come again says nothing about the pair in which it came.
    assert "a.values.h5" not in cli("compare", "-v", tmp_path).stdout
    second[1].unlink()
    write_run(second[1], plain_steps(s1_out=values(77)))
    told = cli("compare", "-v", tmp_path)
    assert told.returncode == 1
    assert told.stdout == cli("compare", "-v", *second).stdout
    assert cli("note", tmp_path).stdout == cli("note", *second).stdout


@pytest.mark.parametrize("option", ["--json", "--note"])
def test_nothing_is_overwritten_unless_forced(
    twins: tuple[Path, Path], tmp_path: Path, option: str
) -> None:
    target = tmp_path / "mine"
    target.write_text("mine")
    refused(cli("compare", *twins, option, target), "exists already")
    assert target.read_text() == "mine"
    assert cli("compare", *twins, option, target, "--force").returncode == 1
    assert "net.head" in target.read_text()


def test_a_run_is_not_overwritten_even_if_forced(twins: tuple[Path, Path]) -> None:
    before = twins[1].read_bytes()
    refused(cli("compare", *twins, "--json", twins[1], "--force"), "is read as well")
    refused(cli("note", *twins, "-o", twins[0], "--force"), "is read as well")
    assert twins[1].read_bytes() == before


def test_a_target_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    missing = (tmp_path / "a.h5", tmp_path / "b.h5")
    refused(cli("note", *missing, "-o", tmp_path / "no" / "n.md"), "no such directory")
    refused(cli("note", *missing, "-o", tmp_path), "is a directory")


@pytest.mark.parametrize("place", ["-", "out"])
def test_json_and_note_do_not_share_a_place(
    twins: tuple[Path, Path], tmp_path: Path, place: str
) -> None:
    done = cli("compare", *twins, "--json", place, "--note", place, cwd=tmp_path)
    refused(done, "cannot go to the same place")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("tolerance", ["-1", "nan", "inf", "much"])
def test_a_tolerance_is_a_number_of_at_least_0(twins: tuple[Path, Path], tolerance: str) -> None:
    done = cli("compare", *twins, f"--tolerance={tolerance}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"argument --tolerance: '{tolerance}' is not a number of at least 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_is_no_utf_8_can_be_compared_and_written_about(
    twins: tuple[Path, Path], tmp_path: Path
) -> None:
    odd = tmp_path / "b\udcff.h5"
    twins[1].rename(odd)
    note, as_json = tmp_path / "note.md", tmp_path / "d.json"
    done = cli("compare", twins[0], odd, "--note", note, "--json", as_json)
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(as_json.read_text())["runs"][1]["path"] == str(odd)
    assert "$'b\\xff.h5'" in note.read_text()


def test_the_command_in_the_note_means_what_was_recorded(tmp_path: Path) -> None:
    """The arguments are read back by bash from the note, byte for byte."""
    argv = [
        "python",
        "a b",
        "it's",
        "$HOME",
        "`id`",
        "new\nline",
        "\x1b[31m",
        "\udcff",
        "é≠",
        "",
        "\\",
    ]
    environment = {"argv": json.dumps(argv)}
    a, b = (
        write_run(tmp_path / f"{name}.h5", plain_steps(), environment=environment) for name in "ab"
    )
    note = cli("note", a, b, "-o", "-").stdout
    # Neither command names its file, so a remark stands before it.
    command = note.split("```sh\n")[1].splitlines()[2]
    read_back = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    )
    arguments = read_back.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    assert arguments == argv


def test_a_tree_is_printed(tmp_path: Path) -> None:
    done = in_bash('bd tree | head -n 2; bd tree | grep -c "=> unseeded-init"')
    assert done.stdout == (
        "where a window opens: Did the runs differ already where the recording begins? "
        "[opened-late]\n"
        "  yes: => unexplained\n"
        "1\n"
    )
