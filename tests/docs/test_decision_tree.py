"""docs/decision-tree.md is what the tree says, and its example works."""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.conclusion import conclude, render_tree
from bisect_debugger.causality.own_nodes import extend_tree, load_nodes, reset_tree
from bisect_debugger.format.groups import Group
from tests.docs.decision_tree_page import page
from tests.docs.project import ROOT
from tests.e2e.command_line import cli
from tests.runs import nudged, plain_steps, values, write_run
from tests.unit.test_tree import case, row

_ALWAYS_OURS = """
from bisect_debugger.causality.nodes import Question
from bisect_debugger.causality.tree import ROOT, TREE
ours = Question("Is it ours?", "is_module_output", "async-update", "theirs", "theirs")
NODES = {ROOT: ours, "theirs": TREE[ROOT]}
"""

PAGE = ROOT / "docs/decision-tree.md"


@pytest.fixture
def nodes_of_the_page(tmp_path: Path) -> Iterator[Path]:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "mynodes.py"
    path.write_text(code, encoding="utf-8")
    yield path
    reset_tree()


def test_the_page_is_what_the_tree_says() -> None:
    fresh = "python -m tests.docs.decision_tree_page > docs/decision-tree.md"
    assert PAGE.read_text(encoding="utf-8") == page(), f"print it anew: {fresh}"


def test_nodes_of_ones_own_are_walked(nodes_of_the_page: Path) -> None:
    extend_tree(load_nodes(f"{nodes_of_the_page}:NODES"))
    output = row(Group.FORWARD)
    plain = conclude(case(output))
    assert plain.leaf.cause is Cause.FORWARD_KERNEL
    assert "Is it our fused norm?" in [step.question for step in plain.trail]
    ours = conclude(case(replace(output, component="net.fused_norm")))
    assert ours.leaf.remedy.advice == ("Build it with FIXED_ORDER=1.",)
    assert "our fused norm" in render_tree()


def test_the_command_prints_the_tree_with_them(nodes_of_the_page: Path) -> None:
    done = cli("tree", "--tree", "mynodes.py:NODES", cwd=nodes_of_the_page.parent)
    assert done.returncode == 0, done.stderr
    assert "Is it our fused norm? [is-forward]" in done.stdout
    assert "our fused norm" not in cli("tree").stdout


@pytest.mark.parametrize("command", ["compare", "note", "open"])
def test_every_command_that_names_causes_walks_them(command: str, tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    (tmp_path / "ours.py").write_text(_ALWAYS_OURS, encoding="utf-8")
    target = tmp_path / "told.txt"
    arguments = {
        "compare": ("--note", target),
        "note": ("-o", target),
        "open": ("--screenshot", target, "--screen", "trail", "--size", "120x40"),
    }[command]
    done = cli(command, a, b, *arguments, "--tree", "ours.py:NODES", cwd=tmp_path)
    assert done.returncode == (command == "compare"), done.stderr
    assert "Is it ours?" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("NODES = 3", "is no mapping"),
        ("OTHER = {}", "is no mapping"),
        ("import nothing_of_that_name", "cannot be imported (ModuleNotFoundError"),
        ("NODES = {'is-rng': 1}", "neither a Question nor a Leaf"),
        ("NODES = {'is-rng': Question('?', 'is_rng', 'a', 'a', 'a')}", "leads to a"),
        ("NODES = {'is-rng': Question('?', 'is_odd', *3 * ['async-update'])}", "is no look"),
        ("NODES = {'is-rng': Question('?', 'is_rng', *3 * ['is-rng'])}", "back to itself"),
        ("NODES = {'ours': Leaf('rng-stream')}", "names rng-stream, which is no Cause"),
        ("NODES = {'ours': Leaf(Cause.RNG_STREAM, 'odd')}", "is the variant odd, which is not"),
    ],
)
def test_what_is_no_part_of_a_tree_is_refused(code: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "mynodes.py").write_text(
        "from bisect_debugger.causality.causes import Cause\n"
        f"from bisect_debugger.causality.nodes import Leaf, Question\n{code}\n",
        encoding="utf-8",
    )
    done = cli("tree", "--tree", "mynodes.py:NODES", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_is_found_where_the_user_stands(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text("NODES = {}\n", encoding="utf-8")
    assert cli("tree", "--tree", "ours:NODES", cwd=tmp_path).returncode == 0
    assert cli("tree", "--tree", "ours", cwd=tmp_path).returncode == 2
    assert "ours" not in sys.modules
