"""The pictures in docs/tui.md: there, shown, self-contained, and what the tool paints today."""

import re
from xml.etree import ElementTree

import pytest

from sample_runs.screenshots import file_of, names, picture
from tests.docs.project import ROOT

MOST_BYTES = 50_000
SVG = "{http://www.w3.org/2000/svg}"


def test_every_screen_is_shown_and_no_other() -> None:
    shown = re.findall(
        r"!\[[^\]]+\]\(images/tui-([a-z]+)\.svg\)", (ROOT / "docs/tui.md").read_text("utf-8")
    )
    assert sorted(shown) == sorted(names())
    there = {path.name for path in (ROOT / "docs/images").iterdir()}
    assert there == {f"tui-{name}.svg" for name in names()}


@pytest.mark.parametrize("name", names())
def test_a_picture_needs_nothing_from_elsewhere(name: str) -> None:
    text = file_of(name).read_text(encoding="utf-8")
    assert len(text.encode()) <= MOST_BYTES
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert len(root.findall(f".//{SVG}text")) > 20
    hosts = set(re.findall(r"\w+://[^\"'\s<]+", text))
    assert hosts == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@font-face|@import|url\((?!#)|<image|<script", text)


@pytest.mark.parametrize("name", names())
def test_a_picture_is_what_the_tool_paints(name: str) -> None:
    painted = picture(name)
    assert painted == file_of(name).read_text(encoding="utf-8"), "paint it: make screenshots"
