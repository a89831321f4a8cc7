"""Hostile names in Markdown and Mermaid: a reader sees the name, and nothing happens."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given

from bisect_debugger.errors import printable
from bisect_debugger.note.escape import block, code, mermaid, shell, text
from tests.unit.hostile import NAMES, names
from tests.unit.markdown_reading import fences, foreign, items, prose, tables, tokens
from tests.unit.mermaid_reading import MermaidError, label, read_flowchart

Escape = Callable[[str], str]

both = pytest.mark.parametrize("escape", [text, code])


@both
@given(name=names)
def test_a_list_item_shows_the_name(escape: Escape, name: str) -> None:
    markdown = f"- {escape(name)}\n- next\n"
    assert foreign(markdown) == set()
    shown, following = items(markdown)
    assert shown.strip() == printable(name).strip()
    assert following == "next"


@both
@given(name=names)
def test_a_cell_shows_the_name_and_the_table_keeps_its_form(escape: Escape, name: str) -> None:
    markdown = f"| a | b |\n|---|---|\n| {escape(name)} | {escape(name)} |\n| c | d |\n"
    assert foreign(markdown) == set()
    ((head, row, last),) = tables(markdown)
    assert (head, last) == (["a", "b"], ["c", "d"])
    assert [cell.strip() for cell in row] == [printable(name).strip()] * 2


@both
@given(name=names)
def test_a_paragraph_stays_one(escape: Escape, name: str) -> None:
    markdown = f"before {escape(name)} behind\n"
    assert foreign(markdown) == set()
    kinds = [token.type for token in tokens(markdown)]
    assert kinds == ["paragraph_open", "inline", "paragraph_close"]


@given(name=names)
def test_text_mentions_nobody_and_refers_to_nothing(name: str) -> None:
    assert "@" not in prose(f"x {text(name)} y")
    assert not re.search(r"#\d", prose(f"x {text(name)} y"))
    # Links are looked for in the source, where a backslash still counts.
    assert not re.search(r"(?<!\\)://|www\.", text(name))


@both
@pytest.mark.parametrize("name", NAMES)
def test_old_tricks_come_to_nothing(escape: Escape, name: str) -> None:
    markdown = f"| a |\n|---|\n| {escape(name)} |\n\n- {escape(name)}\n"
    assert foreign(markdown) == set()
    assert [cell.strip() for cell in tables(markdown)[0][1]] == [printable(name).strip()]
    assert [item.strip() for item in items(markdown)] == [printable(name).strip()]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("net.q_head.out", "`net.q_head.out`"),
        ("a`b", "``a`b``"),
        ("`a", "`` `a ``"),
        ("a|b", "a&#124;b"),
        ("", "` `"),
    ],
)
def test_code_of_plain_and_of_odd_names(name: str, expected: str) -> None:
    assert code(name) == expected


def test_a_long_name_is_cut_in_the_middle_and_says_so() -> None:
    shown = code("a" * 300 + "b" * 300, 20)
    assert shown == "`aaaaaaaaa…bbbbbbbbb`"


@given(name=names)
def test_a_mermaid_label_shows_the_name(name: str) -> None:
    chart = f'flowchart TD\n    q0["{mermaid(name)}"]\n    c0(["style"])\n'
    chart += f'    q0 -->|"{mermaid(name)}"| c0\n'
    shown = read_flowchart(chart)
    assert shown.nodes["q0"] == (printable(name, 120) or " ")
    assert shown.arrows == [("q0", shown.nodes["q0"], "c0")]


def test_quotes_become_entity_codes() -> None:
    assert mermaid('x"y') == "x#34;y"
    assert label(mermaid("weight_ih")) == "weight_ih"


@pytest.mark.parametrize(
    "bad",
    ['a" b', "", "`a`", "1. a", "- a", "_a_", "www.a", "direction TB", "a %%{init: 1}", "<b>a</b>"],
)
def test_the_reader_of_flowcharts_refuses_what_is_not_escaped(bad: str) -> None:
    with pytest.raises(MermaidError):
        read_flowchart(f'flowchart TD\n    q0["{bad}"]\n')


@given(name=names)
def test_a_block_holds_whatever_is_in_it(name: str) -> None:
    markdown = f"{block(['python ' + name, 'second'], 'sh')}\n\nafter\n"
    assert fences(markdown, "sh") == [f"python {printable(name)}\nsecond\n"]
    assert prose(markdown) == "after"


@given(arguments=names)
def test_a_command_is_one_printable_line(arguments: str) -> None:
    command = shell(["python", arguments])
    assert command.isprintable()
    assert command.startswith("python ")


def test_a_plain_command_is_shown_as_it_was_typed() -> None:
    plain = ["python", "train.py", "--out", "a b.h5"]
    assert shell(plain) == "python train.py --out 'a b.h5'"
