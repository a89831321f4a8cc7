"""Sentences on a terminal are broken between words; what goes elsewhere stays as it is."""

import io

import pytest

from bisect_debugger.commands.output import in_columns


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_words_stay_whole_and_keep_their_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    text = "short\n   why: several words of one sentence\n/a/path/that/is/longer/than/a/line"
    assert in_columns(text, _Terminal()).split("\n") == [
        "short",
        "   why: several",
        "     words of one",
        "     sentence",
        "/a/path/that/is/longer/than/a/line",
    ]


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_a_file_gets_the_lines_as_they_are(stream: io.StringIO | None) -> None:
    assert in_columns("word " * 100, stream) == "word " * 100
