"""A strict reader of the flowcharts that a note has: a subset of Mermaid, and nothing else.

The rules are those of Mermaid's own lexer and of what it does before and after it:

- a label stands in double quotes, which nothing inside can escape; an empty one is a syntax
  error, and one that begins with a backtick is a Markdown string;
- ``%%{`` begins a directive and a line that begins with ``%%`` is a comment, wherever they stand;
- a line that holds ``direction TB`` is a statement of its own, also where that is in a label;
- ``#59;`` is an entity code, but a line with ``style`` or ``classDef``, a colon, and an entity
  behind it loses its last semicolon;
- labels go through a Markdown parser before their entity codes are decoded.
"""

import html
import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

_NODE = re.compile(r' {4}([a-z]\w*)(?:\["([^"]+)"\]|\(\["([^"]+)"\]\))')
_ARROW = re.compile(r' {4}([a-z]\w*) -->\|"([^"]+)"\| ([a-z]\w*)')
_RESERVED = {
    *("end", "graph", "subgraph", "flowchart", "style", "class", "click", "default", "href"),
    *("call", "direction", "v", "linkstyle", "classdef", "interpolate"),
}
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


class MermaidError(ValueError):
    """The text is no flowchart of the subset."""


@dataclass(frozen=True, slots=True)
class Flowchart:
    """What a flowchart shows.

    Attributes:
        nodes: id -> label as a reader sees it.
        arrows: (source id, label, target id).
    """

    nodes: dict[str, str]
    arrows: list[tuple[str, str, str]]

    def path(self, start: str) -> list[str]:
        """Labels along the arrows from a node that is nowhere forked, nodes and arrows by turns."""
        words = [self.nodes[start]]
        while following := [
            (label, target) for source, label, target in self.arrows if source == start
        ]:
            if len(following) > 1:
                break
            label, start = following[0]
            words += [label, self.nodes[start]]
        return words


def read_flowchart(source: str) -> Flowchart:
    """Parse a flowchart.

    Raises:
        MermaidError: Mermaid would reject it, or show something else than its labels say.
    """
    first, *lines = source.rstrip("\n").split("\n")
    if first != "flowchart TD":
        raise MermaidError(f"not a flowchart: {first!r}")
    if "%%" in source:
        raise MermaidError("a comment or a directive")
    nodes: dict[str, str] = {}
    arrows: list[tuple[str, str, str]] = []
    for line in lines:
        _check_line(line)
        if node := _NODE.fullmatch(line):
            if node[1] in nodes or node[1] in _RESERVED:
                raise MermaidError(f"node {node[1]!r} is there already, or reserved")
            nodes[node[1]] = label(node[2] or node[3])
        elif arrow := _ARROW.fullmatch(line):
            arrows.append((arrow[1], label(arrow[2]), arrow[3]))
        else:
            raise MermaidError(f"not a statement: {line!r}")
    unknown = {end for source_id, _, target in arrows for end in (source_id, target)} - nodes.keys()
    if unknown:
        raise MermaidError(f"arrows to nodes without a label: {unknown}")
    return Flowchart(nodes, arrows)


def label(raw: str) -> str:
    """A label as a reader sees it.

    Raises:
        MermaidError: its Markdown pass would make something else of it than text.
    """
    blocks = _MARKDOWN.parse(raw)
    kinds = [block.type for block in blocks]
    if kinds != ["paragraph_open", "inline", "paragraph_close"]:
        raise MermaidError(f"Markdown in a label: {raw!r} {kinds}")
    children = blocks[1].children or []
    if [child.type for child in children] != ["text"] or children[0].content != raw.strip(" "):
        raise MermaidError(f"Markdown in a label: {raw!r}")
    if re.search(r"www\.|https?://", raw):
        raise MermaidError(f"a link in a label: {raw!r}")
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", raw))


def _check_line(line: str) -> None:
    if re.search(r"direction\s+(TB|BT|RL|LR)", line):
        raise MermaidError(f"a direction statement: {line!r}")
    if re.search(r"(style|classDef).*:\S*#.*;", line):
        raise MermaidError(f"an entity would lose its semicolon: {line!r}")
    if "\\n" in line:
        raise MermaidError(f"a line break in a label: {line!r}")
