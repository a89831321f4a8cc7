"""Names from a recording are hostile: shown escaped and cut, whatever they hold."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.tui.look import Look
from bisect_debugger.tui.screens.buffer import buffer_text
from bisect_debugger.tui.screens.buffers import row_line
from bisect_debugger.twins import Row, Status
from bisect_debugger.twins.model import Seen
from bisect_debugger.views.buffer import BufferView
from bisect_debugger.views.names import elide, pad
from tests.runs import nudged, values, write_run
from tests.tui.screens import opened, press, screen_text

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("[]/\\\x1b\x07\r\n\t\x00\x9b\u202e\u2066\u200b\u0301\ufeff字👩\ud800"),
    ),
    max_size=120,
)
FORBIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that move a cursor, turn the direction or cannot be written."""


def _is_safe(text: str) -> bool:
    return not any(unicodedata.category(character) in FORBIDDEN for character in text)


@given(NASTY, st.integers(0, 90))
@example("a" * 10_000, 40)
@example("\u0301" * 10_000, 40)
@example("字" * 10_000, 41)
@example("\x1b[2J" * 2_500, 3)
def test_a_name_is_escaped_and_fits(name: str, width: int) -> None:
    shown = elide(name, width)
    assert _is_safe(shown)
    assert cell_len(shown) <= width
    assert len(shown) <= 2 * max(16, 4 * width) + 1
    assert cell_len(pad(shown, width)) == width


@given(st.from_regex(r"[a-z]{1,9}(\.[a-z]{1,9}){0,4}", fullmatch=True), st.integers(9, 60))
def test_an_ordinary_name_keeps_both_ends(name: str, width: int) -> None:
    shown = elide(name, width)
    if len(name) <= width:
        assert shown == name
    else:
        head, tail = shown.split("…")
        assert name.startswith(head)
        assert name.endswith(tail)
        assert len(shown) == width


@given(NASTY, NASTY, NASTY, st.integers(20, 120))
@settings(max_examples=60)
def test_a_row_and_its_buffer_are_lines_of_plain_text(
    name: str, component: str, location: str, width: int
) -> None:
    layout = Layout("float32", (2,))
    seen = Seen(0, (1, 2), layout, EventFlag.NONE, 0)
    row = Row(
        step=3,
        group=Group.FORWARD,
        component=component,
        role="out",
        subject="",
        name=name,
        occurrence=1,
        location=location,
        a=seen,
        b=seen,
        status=Status.DIFFERS,
    )
    line = row_line(row, width, Look())
    assert "\n" not in line.plain
    assert line.cell_len <= width
    view = BufferView(row, None, (), 0, 0, None, "digest")
    console = Console(width=width, color_system=None, legacy_windows=False)
    with console.capture() as painted:
        console.print(buffer_text(view, width, Look()))
    assert all(map(_is_safe, painted.get().split("\n")))


HOSTILE = [
    "[red]net[/red].x",
    "net.\x1b[2J\x1b]0;title\x07.x",
    "net.\u202egnp\u2066.x",
    "net.line\nbreak\r.x",
    "net." + "y" * 900 + ".x",
    "net." + "字" * 300 + ".x",
]


@pytest.mark.parametrize(
    "name", HOSTILE, ids=["markup", "escape", "rtl", "newline", "long", "wide"]
)
async def test_hostile_names_in_every_screen(name: str, tmp_path: Path) -> None:
    init = [(Group.PARAM, name, values(1))]
    a = write_run(
        tmp_path / "a.h5", [init, [(Group.FORWARD, name, values(2))]], environment={name[:90]: name}
    )
    b = write_run(tmp_path / "b.h5", [init, [(Group.FORWARD, name, nudged(values(2)))]])
    async with opened(a, b) as (app, pilot):
        for keys in ([], ["f"], ["enter"], ["2"], ["3"], ["6"], ["7"], ["8"], ["9"], ["0"], ["?"]):
            await press(pilot, *(key.replace("?", "question_mark") for key in keys))
            lines = screen_text(app).split("\n")[:-1]
            assert all(map(_is_safe, lines))
            assert len(lines) == 24
            assert max(map(cell_len, lines)) <= 80
        await press(pilot, "4")
        if name.startswith("[red]"):
            assert "[red]net[/red].x" in screen_text(app)
