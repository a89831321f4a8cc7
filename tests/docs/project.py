"""The project's own files, for tests that hold them to what the documents claim."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bisect_debugger", "probes")


def python_files(*folders: str) -> list[Path]:
    """Every Python file below these folders of the checkout, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def pyproject() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def table_rows(markdown: str, first_header: str) -> list[tuple[str, ...]]:
    """Cells of the table whose first header cell is this, without backticks, header left out.

    Raises:
        LookupError: there is no such table, or more than one.
    """
    tables = [rows for rows in _tables(markdown) if rows[0][0] == first_header]
    if len(tables) != 1:
        raise LookupError(f"{len(tables)} tables begin with {first_header!r}")
    return tables[0][2:]


def _tables(markdown: str) -> Iterator[list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    for line in (*markdown.splitlines(), ""):
        if line.startswith("|"):
            cells = line.strip().strip("|").split("|")
            rows.append(tuple(cell.strip().strip("`") for cell in cells))
        elif rows:
            yield rows
            rows = []
