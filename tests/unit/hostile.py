"""Names that a hostile recording may hold, as a strategy and as a list of old tricks."""

from hypothesis import strategies as st

FRAGMENTS = (
    *"ab1.-+=#@|\\`*_[](){}<>&;:/~$!%\"' \n\r\t\x00\x1b\u202e\u2028é≠😀",
    *("www.", "https://", "<!--", "-->", "<script>", "&amp;", "&#35;", "a@b.org", "- ", "1. "),
    *("1) ", "``", "```", "@org", "#12", "    ", "---", "| |", "%%{init", "direction TB"),
    *("style:#", "end", "]]", '"]', "[!NOTE]", "![x](y)", "[x](y)", "\\|", "\ud800"),
)

names = st.lists(st.sampled_from(FRAGMENTS), max_size=10).map("".join)

NAMES = (
    "",
    " ",
    "a|b",
    "a\\|b",
    "`",
    "``a`",
    " a ",
    "<img src=x onerror=alert(1)>",
    "[click](https://example.org)",
    "# heading\n## second",
    "@everyone #1 GH-1",
    '"] --> x["',
    "%%{init: {}}%%",
    "direction TB",
    "\x1b[31mred",
    "1. one",
    "- one",
    "```\n# out",
)
