"""What can be typed to go somewhere, and the sentence for what cannot."""

import pytest

from bisect_debugger.tui.targets import Target, read_target


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("first", Target(first=True)),
        (" 412 ", Target(step=412)),
        ("step 412", Target(step=412)),
        ("Step 412", Target(step=412)),
        ("FIRST", Target(first=True)),
        ("INIT", Target(step=-1)),
        ("init", Target(step=-1)),
        ("-1", Target(step=-1)),
        ("net.q_head", Target(name="net.q_head")),
        ("steps", Target(name="steps")),
    ],
)
def test_places(typed: str, target: Target) -> None:
    assert read_target(typed) == target


@pytest.mark.parametrize(
    "typed", ["²", "٣", "step ²", "step x", "9" * 5000, "-" + "9" * 5000, "1,000", "", "  ", "½"]
)
def test_what_is_no_place_gets_a_sentence(typed: str) -> None:
    answer = read_target(typed)
    assert isinstance(answer, str)
    assert len(answer) < 100
