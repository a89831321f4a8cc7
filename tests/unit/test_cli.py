"""The frame of the command line: commands found lazily, errors as one sentence, exit codes."""

import argparse
import importlib
import io
import os
import sys
from pathlib import Path

import pytest

from bisect_debugger import __version__, cli
from bisect_debugger.commands import tree
from bisect_debugger.commands.output import check_target, write
from bisect_debugger.errors import NotComparable, UsageError

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_is_in_the_table_and_is_a_module() -> None:
    helpers = {
        "__init__",
        "checkpoint_pairs",
        "command_line",
        "named_runs",
        "output",
        "terminal",
        "tree_option",
    }
    modules = {path.stem for path in (ROOT / "bisect_debugger/commands").glob("*.py")} - helpers
    assert {name.replace("-", "_") for name in cli.COMMANDS} == modules
    for name in modules:
        command = importlib.import_module(f"bisect_debugger.commands.{name}")
        command.configure(argparse.ArgumentParser())
        assert callable(command.run)


def test_version_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr() == (f"bisect-debugger {__version__}\n", "")


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown, said = capsys.readouterr()
    assert said == ""
    for name, line in cli.COMMANDS.items():
        assert f"  {name:<12} {line}\n" in shown


def test_without_a_command_the_help_is_narration(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    shown, said = capsys.readouterr()
    assert shown == ""
    assert "commands:\n" in said


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("compar", "; did you mean 'compare'?"), ("opne", "; did you mean 'open'?"), ("xyzzy", ".")],
)
def test_a_mistyped_command_gets_a_hint(
    typed: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([typed, "a.h5"]) == 2
    assert capsys.readouterr() == (
        "",
        f"bisect-debugger: there is no command '{typed}'{hint} Commands: "
        f"{', '.join(cli.COMMANDS)}.\n",
    )


def test_an_option_before_the_command_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--nonsense"]) == 2
    assert "unrecognized arguments: --nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_options_are_not_guessed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that works by abbreviation would break when an option is added."""
    assert cli.main([name, "--hel"]) == 2
    assert cli.main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: bisect-debugger {name} ")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (UsageError("No."), 2, "bisect-debugger: No.\n"),
        (NotComparable("Never."), 3, "bisect-debugger: Never.\n"),
        (KeyboardInterrupt(), 130, "bisect-debugger: interrupted.\n"),
    ],
)
def test_errors_are_one_sentence_with_their_code(
    error: BaseException,
    code: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    _fail_with(error, monkeypatch)
    assert cli.main(["tree"]) == code
    assert capfd.readouterr().err == sentence


def test_an_error_of_our_own_is_not_taken_for_a_divergence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(cli.TRACEBACK_VARIABLE, raising=False)
    _fail_with(ZeroDivisionError("by\nzero"), monkeypatch)
    assert cli.main(["tree"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("bisect-debugger: unexpected ZeroDivisionError: by zero at test_cli.py:")
    assert said.count("\n") == 1
    monkeypatch.setenv(cli.TRACEBACK_VARIABLE, "1")
    assert cli.main(["tree"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_names_that_the_terminal_cannot_show_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(tree, "render_tree", lambda: "≠ forward")
    assert cli.main(["tree"]) == 0
    assert terminal.buffer.getvalue() == b"\\u2260 forward\n"


def _fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(arguments: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr(tree, "run", run)


def test_a_new_file_is_written_and_an_old_one_kept(tmp_path: Path) -> None:
    target = tmp_path / "note.md"
    write(str(target), "one≠\n")
    assert target.read_text(encoding="utf-8") == "one≠\n"
    with pytest.raises(UsageError, match="exists already; name another file, or add --force"):
        write(str(target), "two\n")
    write(str(target), "two\n", force=True)
    assert target.read_text(encoding="utf-8") == "two\n"


def test_a_target_that_is_read_is_never_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "a.h5"
    run.write_text("a run")
    (tmp_path / "link.h5").symlink_to(run)
    with pytest.raises(UsageError, match="is read as well"):
        check_target(str(tmp_path / "link.h5"), force=True, inputs=["missing.h5", str(run)])


def test_targets_that_cannot_be_are_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        check_target(str(tmp_path))
    with pytest.raises(UsageError, match="no such directory"):
        check_target(str(tmp_path / "no" / "note.md"))
    check_target(None)
    check_target("-")
    check_target(str(tmp_path / "new.md"))


def test_what_is_no_regular_file_may_be_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check_target(str(pipe))
    write(str(pipe), "read\n")
    assert os.read(reader, 100) == b"read\n"
    os.close(reader)


def test_half_a_character_in_a_name_is_escaped(tmp_path: Path) -> None:
    write(str(tmp_path / "note.md"), "a\ud800b\n")
    assert (tmp_path / "note.md").read_bytes() == b"a\\ud800b\n"
