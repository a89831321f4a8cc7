"""docs/guarantees.md: every guarantee names a test that is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


def marked_long(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(mark) == "pytest.mark.long" for mark in function.decorator_list)


def functions_of(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists() -> None:
    assert len(NAMED) > 20
    for file, name in NAMED:
        path = ROOT / file
        assert path.is_file(), file
        assert not name or name in functions_of(path), f"{file}::{name}"


def test_every_guarantee_names_a_test_that_make_test_runs() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]", line)]
    assert len(rows) > 15
    for row in rows:
        guarantee, _, held_by = (cell.strip() for cell in row.strip("|").split("|"))
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", held_by)
        run = [
            name
            for file, name in named
            if not name or not marked_long(functions_of(ROOT / file)[name])
        ]
        assert run, guarantee
        assert guarantee.endswith(".") or ":" in guarantee, guarantee


def test_long_tests_are_called_long() -> None:
    for file, name in NAMED:
        if name:
            said = f"long: `{file}::{name}`" in PAGE
            assert marked_long(functions_of(ROOT / file)[name]) == said, name
