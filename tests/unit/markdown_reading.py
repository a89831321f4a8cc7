"""Markdown as GitHub reads it: tables and strike-through on, raw HTML honoured."""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

Rows = list[list[str]]

HARMLESS = {"text", "softbreak", "code_inline", "strong_open", "strong_close"}
"""What may stand inside a line of a note. No link, image, HTML or strike-through."""

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tokens(markdown: str) -> list[Token]:
    """Block tokens; those of type ``inline`` carry their own as children."""
    return _PARSER.parse(markdown)


_FOLDED_TRAIL = [
    "<details>\n<summary>The questions that were asked, and their answers</summary>",
    "</details>",
]
"""The only HTML of a note, one stretch that is folded."""


def foreign(markdown: str) -> set[str]:
    """Types of tokens that a note never has, so that a name must have brought them in."""
    html = [token for token in tokens(markdown) if token.type.startswith("html")]
    ours = [token.content.strip() for token in html] in ([], _FOLDED_TRAIL)
    found = set() if ours else {token.type for token in html}
    return found | {child.type for child in _inline(markdown) if child.type not in HARMLESS}


def headings(markdown: str) -> list[str]:
    """Headings in order, with as many # as they are deep."""
    found = tokens(markdown)
    return [
        f"{token.markup} {visible(found[place + 1])}"
        for place, token in enumerate(found)
        if token.type == "heading_open"
    ]


def tables(markdown: str) -> list[Rows]:
    """Every table as rows of visible cell texts, the head first."""
    found: list[Rows] = []
    parsed = tokens(markdown)
    for place, token in enumerate(parsed):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("td_open", "th_open"):
            found[-1][-1].append(visible(parsed[place + 1]))
    return found


def items(markdown: str) -> list[str]:
    """Visible text of every list item; an item that holds another block has the text of both."""
    found: list[str] = []
    depth = 0
    for token in tokens(markdown):
        depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if token.type == "list_item_open":
            found.append("")
        elif token.type == "inline" and depth:
            found[-1] += visible(token)
    return found


def fences(markdown: str, language: str) -> list[str]:
    """Contents of the fenced blocks in a language."""
    return [t.content for t in tokens(markdown) if t.type == "fence" and t.info == language]


def visible(inline: Token) -> str:
    """What a reader sees of a line."""
    assert inline.type == "inline", inline.type
    children = inline.children or []
    return "".join("\n" if child.type == "softbreak" else child.content for child in children)


def _inline(markdown: str) -> Iterator[Token]:
    for token in tokens(markdown):
        yield from token.children or []


def prose(markdown: str) -> str:
    """All text that is not code: where GitHub looks for mentions and references afterwards."""
    return "\n".join(child.content for child in _inline(markdown) if child.type == "text")
