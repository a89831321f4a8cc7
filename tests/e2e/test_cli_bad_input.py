"""Bad input, each in a real process: one clear sentence, the right exit code, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from bisect_debugger.format import schema
from bisect_debugger.format.groups import Group
from tests.runs import plain_steps, values, write_run


def cli(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "bisect_debugger.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )


def refused(code: int, words: str, *arguments: object) -> None:
    done = cli(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.startswith("bisect-debugger: ")
    assert done.stderr.count("\n") == 1, "one sentence"
    assert "Traceback" not in done.stderr


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_run(tmp_path / "good.h5", plain_steps())


@pytest.mark.parametrize("command", ["compare", "open", "info", "note"])
def test_missing_file(command: str, good: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.h5"
    arguments: list[object] = [missing] if command == "info" else [good, missing]
    if command == "note":
        arguments += ["-o", tmp_path / "n.md"]
    refused(3, "no such file", command, *arguments)


def test_directory(good: Path, tmp_path: Path) -> None:
    refused(3, "this is a directory", "info", tmp_path)
    for command in ("compare", "open", "note"):
        refused(2, "given twice", command, good, tmp_path)
        (tmp_path / "none").mkdir(exist_ok=True)
        refused(2, "a folder with no run in it", command, tmp_path / "none")


def test_empty_file(good: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.h5"
    empty.touch()
    refused(3, "the file is empty", "compare", good, empty)


def test_text_file(good: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.h5"
    text.write_text("step,loss\n0,0.5\n" * 100)
    refused(3, "not an HDF5 file", "compare", good, text)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_file(good: Path, tmp_path: Path, share: float) -> None:
    cut = tmp_path / "cut.h5"
    content = good.read_bytes()
    cut.write_bytes(content[: int(len(content) * share)])
    refused(3, "the file is damaged", "compare", good, cut)


def test_foreign_hdf5(good: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.h5"
    with h5py.File(foreign, "w") as file:
        file["weights"] = [1.0, 2.0]
    refused(3, "not one that bisect-debugger recorded", "compare", good, foreign)


def test_newer_version(good: Path) -> None:
    with h5py.File(good, "r+") as file:
        file.attrs["version"] = schema.FORMAT_VERSION + 1
    refused(3, "upgrade bisect-debugger", "info", good)


def test_external_link_is_refused_and_not_followed(good: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other.h5", plain_steps())
    with h5py.File(good, "r+") as file:
        del file["events/flags"]
        file["events/flags"] = h5py.ExternalLink(str(other), "/events/flags")
    refused(3, "link out of the file", "info", good)


def test_control_characters_of_a_path_are_escaped(tmp_path: Path) -> None:
    done = cli("info", tmp_path / "evil\x1b[31m\n.h5")
    assert done.returncode == 3
    assert "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_twins_of_different_programs(good: Path, tmp_path: Path) -> None:
    other = write_run(
        tmp_path / "other.h5", [[(Group.PARAM, "actor.w", values())] for _ in range(3)]
    )
    refused(3, "no buffer in common", "compare", good, other)


def test_no_common_step(good: Path, tmp_path: Path) -> None:
    late = write_run(tmp_path / "late.h5", plain_steps(1)[1:], first_step=70)
    refused(3, "no step in common", "compare", good, late)


def test_same_file_twice(good: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.h5"
    link.symlink_to(good)
    refused(2, "was given twice", "compare", good, link)


def test_one_run_only(good: Path) -> None:
    refused(2, "name at least two", "compare", good)


def test_unwritable_output_and_existing_output(good: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other.h5", plain_steps())
    refused(2, "cannot be written", "note", good, other, "-o", tmp_path / "no" / "note.md")
    note = tmp_path / "note.md"
    note.write_text("mine")
    refused(2, "exists already", "note", good, other, "-o", note)
    assert note.read_text() == "mine"


def test_open_without_a_terminal(good: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other.h5", plain_steps())
    refused(2, "needs a terminal", "open", good, other)


def test_no_permission(good: Path, tmp_path: Path) -> None:
    good.chmod(0)
    if os.geteuid() != 0:
        refused(3, "permission denied", "info", good)
        return
    # Root reads everything, so the look is taken by a child without root's rights.
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent == Path("/tmp"):
            break
        parent.chmod(0o755)
    code = (
        "import os, sys\n"
        "from bisect_debugger.cli import main\n"
        # The interpreter's own files may be closed to others: load all that is used first.
        "assert main(['info', sys.argv[2]]) == 0\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "sys.exit(main(['info', sys.argv[1]]))\n"
    )
    readable = write_run(tmp_path / "readable.h5", plain_steps())
    done = subprocess.run(
        [sys.executable, "-c", code, str(good), str(readable)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "permission denied" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_command_and_bad_options(good: Path) -> None:
    done = cli("compar", good)
    assert done.returncode == 2
    assert "did you mean 'compare'?" in done.stderr
    assert cli("compare", good, good, "--tolerance", "-1").returncode == 2
    assert cli().returncode == 2
    assert cli("--version").stdout.startswith("bisect-debugger 0.")


def test_a_reader_that_goes_away_is_no_error(good: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other.h5", plain_steps())
    command = f"{sys.executable} -m bisect_debugger.cli compare -v {good} {other} | head -c 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
