"""Recorded names made safe for Markdown, Mermaid and a shell: they may hold anything.

What a reader sees is `errors.printable` of the name, nothing more and nothing less: no markup,
no link, no mention of a person, no command.
"""

import re
import shlex

from bisect_debugger.errors import printable

_SPECIAL = re.compile(
    r"(?P<markup>[\\`*_\[\]<>&~$]|:(?=//)|(?<=www)\.)|(?P<pipe>\|)|(?P<reference>[@#]+)"
)
_ORDERED_LIST = re.compile(r"^(\d+)([.)])")
_LONGEST_COMMAND = 20_000


def text(raw: str, limit: int = 200) -> str:
    """Text for a paragraph, a list item or a table cell: never markup, never a line break.

    GitHub looks for ``@name`` and ``#1`` after Markdown is done, where a backslash is gone
    already, so these two signs become code. A pipe becomes an entity because parsers disagree
    about a backslash before one.

    Args:
        raw: text that may hold a recorded name.
        limit: longest result as a reader sees it, in characters.
    """
    return _at_start_of_line(_SPECIAL.sub(_escaped, printable(raw, limit)))


def code(raw: str, limit: int = 200) -> str:
    """A name as inline code, also inside a table cell.

    The fence is longer than any run of backticks inside. A name with a pipe is shown as text:
    no escape of a pipe in code means the same in a table and outside of one.

    Args:
        raw: a recorded name.
        limit: longest result as a reader sees it, in characters.
    """
    shown = printable(raw, limit) or " "
    if "|" in shown:
        return text(raw, limit)
    fence = "`" * (_longest_run(shown) + 1)
    # Markdown takes one space off both ends where both have one, unless all is spaces.
    stripped = shown.startswith(" ") and shown.endswith(" ") and shown.strip()
    pad = " " if shown.startswith("`") or shown.endswith("`") or stripped else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def mermaid(raw: str, limit: int = 120) -> str:
    """A label for between the quotes of a Mermaid node or edge.

    Everything but letters, digits and a few signs becomes an entity code, among them quotes,
    ``%%{`` directives and underscores, which Mermaid takes for Markdown. So does the first
    character unless it is a letter, because ``1.`` and ``-`` would begin a list, and an empty
    label, which is a syntax error.

    Args:
        raw: text that may hold a recorded name.
        limit: longest result as a reader sees it, in characters.
    """
    shown = printable(raw, limit) or " "
    safe = re.sub(r"[^A-Za-z0-9 .,?/()=+-]|^[^A-Za-z]", lambda found: _entity(found[0]), shown)
    safe = safe.replace("www.", f"www{_entity('.')}")
    # The lexer takes a line with "direction TB" for a statement, wherever it stands in the line.
    return re.sub(r"d(?=irection +(?:TB|BT|RL|LR))", _entity("d"), safe)


def block(lines: list[str], language: str = "") -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    body = "\n".join(printable(line, _LONGEST_COMMAND) for line in lines)
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def shell(arguments: list[str]) -> str:
    """A command line that means these arguments in bash, on one line and printable."""
    return " ".join(map(_shell_word, arguments))


def _shell_word(argument: str) -> str:
    if argument.isprintable():
        return shlex.quote(argument)
    quoted = argument.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{''.join(map(_shell_character, quoted))}'"


def _shell_character(character: str) -> str:
    if character.isprintable():
        return character
    # Python keeps a byte of an argument that is no UTF-8 as one of these half characters.
    handler = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", handler))


def _escaped(found: re.Match[str]) -> str:
    if found["pipe"]:
        return "&#124;"
    return f"`{found[0]}`" if found["reference"] else f"\\{found[0]}"


def _at_start_of_line(escaped: str) -> str:
    """Keep the first characters from beginning a list, a rule or an indented block."""
    if escaped[:1] in ("-", "+", "="):
        return f"\\{escaped}"
    bare = escaped.lstrip(" ")
    leading = "&#32;" * (len(escaped) - len(bare))
    return leading + _ORDERED_LIST.sub(r"\1\\\2", bare)


def _longest_run(shown: str) -> int:
    return max((len(run) for run in re.findall("`+", shown)), default=0)


def _entity(character: str) -> str:
    return f"#{ord(character)};"
