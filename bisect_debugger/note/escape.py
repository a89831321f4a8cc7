"""Recorded names made safe for Markdown and Mermaid: they may hold anything."""

import re

from bisect_debugger.errors import printable

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&@])")
"""What can begin markup, a mention or a reference inside a line; line starts are always ours."""
_MERMAID_KEPT = re.compile(r"[^A-Za-z0-9 .,?/=+\-]")


def text(raw: str, limit: int = 200) -> str:
    """Text for a Markdown paragraph or table cell, never markup, never a line break."""
    return _MARKDOWN.sub(r"\\\1", printable(raw, limit))


def code(raw: str, limit: int = 200) -> str:
    """A name as inline code, also inside a table cell.

    The fence is longer than any run of backticks inside, and a pipe is escaped as GitHub's
    tables ask for it even in code.
    """
    shown = printable(raw, limit).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown or ' '}{pad}{fence}"


def mermaid(raw: str, limit: int = 120) -> str:
    """A label for a quoted Mermaid node: everything unusual becomes an entity code."""
    return _MERMAID_KEPT.sub(lambda found: f"#{ord(found.group())};", printable(raw, limit))


def block(raw: str) -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    lines = [printable(line, 1000) for line in raw.splitlines()]
    body = "\n".join(lines)
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{body}\n{fence}"
