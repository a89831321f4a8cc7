"""The note's markdown as a terminal can show it.

Rich parses it as GitHub does, so that a name reads as it is and never as markup. Three kinds of
blocks are laid out anew: headings stand at the left, a table that is too wide becomes a list, and
a flowchart, which only a browser draws, is left out because the list below it says the same.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_CELL_INDENT = 4


class _LeftHeading(Heading):
    """A heading at the left, underlined where it is the note's title."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text.copy()
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Block(CodeBlock):
    """A block as plain lines; of a flowchart only that it is there."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.lexer_name == "mermaid":
            yield Text("(A browser draws a flowchart here; the list says the same.)", "italic")
        else:
            yield Padding(Text(str(self.text).rstrip("\n")), (0, 0, 0, _CELL_INDENT))


class _TableOrList(TableElement):
    """A table where it fits, else a list: the first cell of a row, and below it the others."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        tables = list(super().__rich_console__(console, options))
        heads, rows = self._cells()
        table = tables[0]
        if isinstance(table, Table) and _width(table, console, options) <= options.max_width:
            yield table
            return
        for row in rows:
            yield Text.assemble((row[0].plain, "bold"))
            for label, cell in _merged(heads[1:], row[1:]):
                yield Padding(
                    Text.assemble((f"{label}: ", "italic"), cell), (0, 0, 0, _CELL_INDENT)
                )

    def _cells(self) -> tuple[list[str], list[list[Text]]]:
        header = self.header.row if self.header is not None else None
        rows = self.body.rows if self.body is not None else []
        return (
            [cell.content.plain for cell in header.cells] if header is not None else [],
            [[cell.content for cell in row.cells] for row in rows],
        )


def _width(table: Table, console: Console, options: ConsoleOptions) -> int:
    unbounded = options.update(max_width=10_000)
    return Measurement.get(console, unbounded, table).maximum


def _merged(heads: Sequence[str], cells: Sequence[Text]) -> Iterator[tuple[str, Text]]:
    """Neighbours that say the same become one, under the heads of the first and the last."""
    pairs = zip(heads, cells, strict=False)
    for _, group in groupby(pairs, key=lambda pair: pair[1].plain):
        same = list(group)
        first, last = same[0][0], same[-1][0]
        yield (first if len(same) == 1 else f"{first} to {last}"), same[0][1]


class NoteMarkdown(Markdown):
    """A note, for `Prose.show`."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _Block,
        "table_open": _TableOrList,
    }

    def __init__(self, markdown: str) -> None:
        """Parse a note."""
        # A name in a note is no link, and a terminal would act on one.
        super().__init__(markdown, hyperlinks=False)
