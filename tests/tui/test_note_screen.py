"""The note as a terminal shows it: no markup is left, names are as they were recorded."""

from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.note.escape import code, text
from bisect_debugger.tui.widgets.markdown import NoteMarkdown
from tests.runs import nudged, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text
from tests.unit.hostile import NAMES

NOTE = SAMPLES / "two_origins" / "note.md"


def shown(markdown: str, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width).print(NoteMarkdown(markdown))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


@pytest.mark.parametrize("width", [60, 80, 120, 400])
def test_no_markup_is_left_and_no_line_is_too_wide(width: int) -> None:
    body = shown(NOTE.read_text(encoding="utf-8"), width)
    assert max(map(cell_len, body.splitlines())) <= width
    # Powers in lines of the trainer's source are no markup.
    body = body.replace("** -0.5", "").replace("2**24", "")
    for mark in ("\\_", "`", "**", "|---", "## ", "&#", "-->", "mermaid"):
        assert mark not in body
    assert "A browser draws a flowchart here" in body
    assert "    bisect-debugger compare " in body


def test_a_table_that_is_too_wide_is_a_list_and_keeps_every_cell() -> None:
    markdown = "| group | init | step 0 | step 1 |\n|---|---|---|---|\n"
    markdown += f"| K `param` | not recorded | **DIVERGE** 1/2: {'x' * 40} | EQUAL |\n"
    markdown += "| `loss` | EQUAL | EQUAL | EQUAL |\n"
    assert shown(markdown).strip().splitlines() == [
        "K param",
        "    init: not recorded",
        f"    step 0: DIVERGE 1/2: {'x' * 40}",
        "    step 1: EQUAL",
        "loss",
        "    init to step 1: EQUAL",
    ]
    wide = [line.split() for line in shown(markdown, 200).splitlines() if "step 0" in line]
    assert wide == [["group", "init", "step", "0", "step", "1"]]


@pytest.mark.parametrize("name", [name for name in NAMES if name.strip()], ids=ascii)
def test_a_name_is_literal(name: str) -> None:
    # Words and not blanks: a terminal wraps where a name has one.
    words = printable(name).split()
    for markdown in (code(name), text(name), f"- {text(name)}", f"| a |\n|---|\n| {code(name)} |"):
        assert shown(markdown, 1000).replace("•", "").split()[-len(words) :] == words


async def test_the_screen_shows_names_that_look_like_markup(tmp_path: Path) -> None:
    name = "net.[red]_a_[/red].**w**"
    a = write_run(tmp_path / "a.h5", [[(Group.PARAM, name, values(1))]])
    b = write_run(tmp_path / "b.h5", [[(Group.PARAM, name, nudged(values(1)))]])
    async with opened(a, b) as (app, pilot):
        await press(pilot, "6")
        assert "Comparison of twins: diverged" in screen_text(app)
        assert name in screen_text(app)
