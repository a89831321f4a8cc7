"""Code around the place that a recording names; a recording may come from anywhere."""

import os
from pathlib import Path

import pytest

from bisect_debugger.views.source import code_at


def test_some_lines_around_the_place(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("".join(f"line {n}\n" for n in range(1, 10)))
    code = code_at("aten::index_add_", "model.py:4", [tmp_path])
    assert code.lines == tuple((n, f"line {n}") for n in range(2, 7))
    assert code.number == 4
    shown = code.text().splitlines()
    assert shown[0] == "aten::index_add_ at model.py:4"
    assert shown[3] == ">     4  line 4"
    assert code_at("", f"{tmp_path}/model.py:1", []).lines[0] == (1, "line 1")


def test_lines_are_counted_as_python_counts_them(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("a = 1\n\f\nb = '\u2028'\nc = 3\n", encoding="utf-8")
    code = code_at("", "model.py:4", [tmp_path])
    assert code.lines[-1] == (4, "c = 3")
    assert [number for number, _ in code.lines] == [2, 3, 4]


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("", "no line was recorded"),
        ("model.py", "no line was recorded"),
        ("model.py:²", "no line was recorded"),
        ("gone.py:3", "the file is not on this machine"),
        ("model.py:99", "the file has no such line any more"),
        ("/etc/passwd:1", "the file is not on this machine"),
        ("folder.py:1", "the file is not on this machine"),
        ("pipe.py:1", "the file is not on this machine"),
        ("a\0b.py:1", "the file is not on this machine"),
    ],
)
def test_what_cannot_be_shown_is_said(location: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("x = 1\n")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    code = code_at("", location, [tmp_path])
    assert code.lines == ()
    assert code.why_not == why
    assert "\0" not in code.text()
    if not location:
        assert code.text() == "not recorded"


def test_code_with_escapes_is_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("a = '\x1b[2J'\t# \u202e\n" + "b" * 10_000)
    code = code_at("", "m.py:1", [tmp_path])
    assert code.lines[0][1].startswith("a = '\\x1b[2J'")
    assert "\u202e" not in code.text()
    assert max(len(line) for _, line in code.lines) <= 160
