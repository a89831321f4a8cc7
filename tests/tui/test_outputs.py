"""What leaves the UI: the clipboard, the note beside the run, the editor."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.export import cache_folder, edit, write_numbered
from tests.runs import nudged, plain_steps, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text, status

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")


async def test_copy_and_export_write_files_and_say_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    (tmp_path / "note.md").write_text("mine")
    async with opened(a, b, (160, 40)) as (app, pilot):
        await press(pilot, "x")
        assert "note-2.md" in screen_text(app)
        await press(pilot, "y")
        copied = tmp_path / "cache" / "bisect-debugger" / "copied.txt"
        assert status(app).startswith("sent to the clipboard; also written to /")
        assert status(app).endswith("bisect-debugger/copied.txt")
        await press(pilot, "3", "y")
        assert "net.head" not in copied.read_text()
        await press(pilot, "1", "y")
    assert (tmp_path / "note.md").read_text() == "mine"
    assert (tmp_path / "note-2.md").read_text().startswith("# Comparison of twins: diverged")
    assert "net.head" in copied.read_text()
    # Nothing but the note was put beside the runs.
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        *("a.h5", "b.h5", "note-2.md", "note.md")
    ]


async def test_a_folder_that_refuses_is_told_in_the_status_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "y")
        assert "sent to the clipboard; the cache folder cannot be written to" in status(app)


def test_the_cache_folder_is_that_of_the_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == tmp_path / ".cache" / "bisect-debugger"
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/me")
    assert cache_folder() == Path("/var/cache/me/bisect-debugger")


def test_an_editor_may_have_arguments_and_gets_the_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"cp -f '--target-directory={tmp_path / 'taken'}'")
    (tmp_path / "taken").mkdir()
    Path("-n.md").write_text("text")
    assert edit(Path("-n.md")) == ""
    assert (tmp_path / "taken" / "-n.md").read_text() == "text"
    monkeypatch.setenv("VISUAL", "")
    assert edit(Path("-n.md")) == "the editor ended with exit code 1; the note is in -n.md"


def test_the_same_note_is_written_once(tmp_path: Path) -> None:
    first = write_numbered(tmp_path, "note", ".md", "text")
    assert write_numbered(tmp_path, "note", ".md", "text") == first
    first.write_text("mine")
    second = write_numbered(tmp_path, "note", ".md", "text")
    assert second.name == "note-2.md"
    os.mkfifo(tmp_path / "note-3.md")
    assert write_numbered(tmp_path, "note", ".md", "next").name == "note-4.md"
    assert (first.read_text(), second.read_text()) == ("mine", "text")


async def test_without_an_editor_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    async with opened(a, b) as (app, pilot):
        await press(pilot, "E")
        said = status(app)
        assert said.startswith("no $EDITOR is set (try: export EDITOR=nano); the note is in ")
        assert said.endswith("/note.md")
    assert (tmp_path / "note.md").exists()


@pytest.mark.parametrize("editor", ["no-such-editor", "'quote"])
async def test_an_editor_that_does_not_start_ends_nothing(
    editor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    monkeypatch.setattr(BisectApp, "suspend", lambda app: nullcontext())
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    async with opened(a, b) as (app, pilot):
        await press(pilot, "E")
        assert "the editor did not start (No " in status(app)
        assert status(app).endswith(f"see $EDITOR: {editor}")
    assert (tmp_path / "note.md").exists()
