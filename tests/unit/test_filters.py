"""Filters over names; a regular expression may be endless, and is given up."""

import time

import pytest

from bisect_debugger.tui.filters import BadFilter, NameFilter, regex_matches


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["net.a", "net.b", "opt"]),
        ("net", ["net.a", "net.b"]),
        ("NET", ["net.a", "net.b"]),
        ("!net", ["opt"]),
        ("!Net", ["opt"]),
        ("re:^NET", ["net.a", "net.b"]),
        ("!", []),
        ("re:a$|opt", ["net.a", "opt"]),
        ("re:", ["net.a", "net.b", "opt"]),
    ],
)
async def test_what_a_filter_takes(text: str, found: list[str]) -> None:
    names = ["net.a", "net.b", "opt"]
    chosen = NameFilter(text)
    await chosen.learn(names)
    assert [name for name in names if chosen.matches(name)] == found


@pytest.mark.parametrize("pattern", ["(", "*", "(?P<a", "[", "a{99999999999}"])
async def test_what_is_no_pattern_is_explained(pattern: str) -> None:
    with pytest.raises(BadFilter, match="not a regular expression"):
        await NameFilter(f"re:{pattern}").learn(["x"])


async def test_an_endless_pattern_is_given_up() -> None:
    began = time.monotonic()
    with pytest.raises(BadFilter, match="takes over"):
        regex_matches("(a+)+$", ["a" * 60 + "!"], seconds=1.0)
    # Not a claim about speed: without a limit this would take longer than the universe is old.
    assert time.monotonic() - began < 60


async def test_a_pattern_is_tried_once_on_each_name() -> None:
    chosen = NameFilter("re:x")
    await chosen.learn(["x", "y"])
    known = dict(chosen._known)
    chosen._known["y"] = True
    await chosen.learn(["x", "y"])
    assert chosen.matches("y")
    assert known == {"x": True, "y": False}


async def test_names_with_newlines_and_lone_surrogates() -> None:
    chosen = NameFilter("re:b")
    await chosen.learn(["a\nb", "\ud800", "\x00b"])
    assert [chosen.matches(name) for name in ("a\nb", "\ud800", "\x00b")] == [True, False, True]
