"""`history add` and `history show`: an investigation is kept, and nothing in it is rewritten."""

import json
from pathlib import Path

from bisect_debugger.diagnosis.as_json import as_json
from tests.builders import full_diagnosis
from tests.e2e.command_line import cli
from tests.runs import nudged, plain_steps, values, write_run


def test_an_investigation_is_told_in_order(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text(as_json(full_diagnosis()), encoding="utf-8")
    add = ("history", "add")
    assert cli(*add, "--cleared", "recurrent carry", cwd=tmp_path).returncode == 0
    more = ("--from", "d.json", "--fixed", "barrier, commit 1a2b", "--next", "outcome head")
    assert cli(*add, *more, cwd=tmp_path).returncode == 0
    lines = (tmp_path / ".bisect-debugger/history.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert first["cleared"] == ["recurrent carry"]
    assert second["cleared"] == ["data"]
    assert second["found"] == ["net.head: forward-kernel (step 1, proven)"]
    assert (second["verdict"], second["fixed"]) == ("diverged", "barrier, commit 1a2b")
    shown = cli("history", "show", cwd=tmp_path).stdout
    assert shown.index("recurrent carry") < shown.index("net.head: forward-kernel")
    heads = ["when", "verdict", "cleared", "found", "fixed", "next"]
    assert shown.splitlines()[0].split() == heads


def test_damaged_lines_are_named_skipped_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    assert cli("history", "add", "--file", path, "--fixed", "one").returncode == 0
    with path.open("ab") as stream:
        stream.write(b'{"version": 1, "at": "cut o')
    before = path.read_bytes()
    assert cli("history", "add", "--file", path, "--fixed", "two").returncode == 0
    assert path.read_bytes().startswith(before)
    shown = cli("history", "show", "--file", path).stdout
    assert "one" in shown
    assert "two" in shown
    assert "line 2" in shown.splitlines()[-1]


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    nothing = cli("history", "add", "--file", tmp_path / "h.jsonl")
    assert (nothing.returncode, "nothing to add" in nothing.stderr) == (2, True)
    missing = cli("history", "show", "--file", tmp_path / "none.jsonl")
    assert (missing.returncode, "is not there" in missing.stderr) == (2, True)
    (tmp_path / "x.json").write_text("[1, 2]", encoding="utf-8")
    other = cli("history", "add", "--from", tmp_path / "x.json", "--file", tmp_path / "h.jsonl")
    assert (other.returncode, "is no diagnosis" in other.stderr) == (3, True)
    assert not (tmp_path / "h.jsonl").exists()


def test_the_note_shows_it_as_a_table_that_no_text_breaks(tmp_path: Path) -> None:
    write_run(tmp_path / "a.h5", plain_steps())
    write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21), by=1e-3)))
    hostile = "x | y\n## no heading <b> `code`"
    path = tmp_path / "h.jsonl"
    assert cli("history", "add", "--file", path, "--next", hostile).returncode == 0
    files = (tmp_path / "a.h5", tmp_path / "b.h5", "-o", "-", "--history", path)
    note = cli("note", *files).stdout
    table = note[note.index("## History") :].strip().splitlines()
    assert table[2] == "| when | verdict | cleared | found | fixed | next |"
    assert len(table) == 5
    assert table[4].count("|") == 7
    assert "\\<b\\>" in table[4]
