"""Prompts, the filter that is in force, and answers in the status line."""

from pathlib import Path

import pytest
from textual import events

from bisect_debugger.tui.screens.buffers import BuffersScreen
from bisect_debugger.tui.screens.prompt import Prompt
from bisect_debugger.tui.widgets.table import VirtualTable
from tests.runs import nudged, plain_steps, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text, settled, status

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")
CLEAN = (SAMPLES / "clean" / "a.h5", SAMPLES / "clean" / "b.h5")


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (100, 24), (140, 40)], ids=str)
@pytest.mark.parametrize(("key", "label"), [("slash", "filter of buffers: "), ("colon", "go to: ")])
async def test_a_prompt_shows_its_label_and_what_is_typed(
    key: str, label: str, size: tuple[int, int]
) -> None:
    async with opened(*TWINS, size) as (app, pilot):
        await press(pilot, key, *"some words".replace(" ", "_"))
        assert isinstance(app.screen, Prompt)
        lines = screen_text(app).splitlines()
        assert lines[-1].startswith(f"{label}some_words")
        assert "enter: " in lines[-2]


async def test_keys_that_follow_at_once_belong_to_the_prompt() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        # As a paste does: no pause in which the prompt could be made ready.
        for key, character in (("colon", ":"), *((z, z) for z in "zzz"), ("enter", "\r")):
            app.post_message(events.Key(key, character))
        await settled(pilot)
        assert status(app) == "no buffer of these runs has zzz in its name"


async def test_typing_replaces_the_filter_and_an_empty_one_ends_it() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "slash", *"outcome", "enter", "slash")
        assert screen_text(app).splitlines()[-1].startswith("filter of buffers: outcome")
        await press(pilot, *"rng", "enter")
        assert 'filter "rng": 2 of 20 events' in screen_text(app)
        await press(pilot, "slash", "escape")
        assert 'filter "rng": 2 of 20 events' in screen_text(app)
        await press(pilot, "slash", "backspace", "enter")
        assert "filter" not in screen_text(app)


async def test_the_filter_in_force_is_shown_on_every_way_back_to_it() -> None:
    shown = 'filter "outcome": 1 of 20 events, 1 equal hidden  (esc: clear)'
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "slash", *"outcome", "enter")
        assert shown in screen_text(app)
        await press(pilot, "1", "4")
        assert shown in screen_text(app)
        await press(pilot, "colon", *"2", "enter")
        assert "Buffers: step 2" in screen_text(app)
        assert 'filter "outcome": 14 of 161 events, 5 equal hidden' in screen_text(app)
        await press(pilot, "escape")
        assert "filter" not in screen_text(app)
        assert "Buffers: step 2" in screen_text(app)
        await press(pilot, "escape")
        assert "Verdict: diverged" in screen_text(app)


async def test_a_filter_that_leaves_nothing_says_how_to_get_rid_of_it() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "slash", *"nothing", "enter")
        assert 'filter "nothing": 0 of 20 events  (esc: clear)' in screen_text(app)
        assert status(app) == "nothing matches nothing  (esc: clear the filter)"
        await press(pilot, "escape", "slash", *"encoder", "enter")
        assert status(app) == "nothing that differs matches encoder  (u: show equal  esc: clear)"


async def test_going_to_an_event_that_the_filter_hides_clears_it() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "slash", *"rng", "enter", "1", "enter")
        assert "Buffer: agent.outcome_head.weight" in screen_text(app)
        await press(pilot, "escape")
        assert "filter" not in screen_text(app)


async def test_the_next_divergence_is_one_that_the_filter_lists(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(
        tmp_path / "b.h5", plain_steps(s0_out=nudged(values(20)), s1_out=nudged(values(21)))
    )
    async with opened(a, b) as (app, pilot):
        await press(pilot, "f", "slash", *"head.out", "enter", "n")
        assert "Buffers: step 1" in screen_text(app)
        await press(pilot, "n")
        assert status(app) == "no later event of the filter differs"


async def test_the_order_is_shown_with_the_one_that_follows() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        for shown in (
            "buffer, in order of execution  (s: by name)",
            "buffer, in order of name  (s: by group)",
            "buffer, in order of group  (s: by execution)",
        ):
            assert shown in screen_text(app)
            await press(pilot, "s")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ([*"zzz"], "no buffer of these runs has zzz in its name"),
        ([*"encoder"], "agent.encoder.weight_ih_l0 is equal in this step  (u: show what is equal)"),
        (["9", "9"], "step 99 is not in both runs: they share init to step 3"),
    ],
    ids=["unknown", "equal", "step"],
)
async def test_where_nobody_can_go_is_said_in_the_status_line(keys: list[str], answer: str) -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "colon", *keys, "enter")
        assert status(app) == answer
        await press(pilot, "down")
        assert status(app) != answer
        await press(pilot, "slash", *"rng", "enter", "colon", *"outcome", "enter")
        assert status(app) == "the filter hides agent.outcome_head.weight  (esc: clear the filter)"


async def test_nothing_covers_the_screen() -> None:
    async with opened(*CLEAN) as (app, pilot):
        await press(pilot, "f")
        assert status(app).startswith("nothing diverged in training; this is the first step")
        await press(pilot, "colon", *"99", "enter")
        assert status(app) == "step 99 is not in both runs: they share init to step 2"
        await press(pilot, "8", "y")
        assert status(app) == "there is nothing to copy here"
        assert not app._notifications


async def test_clearing_the_filter_keeps_the_cursor_on_its_event() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "slash", *"outcome", "enter", "escape")
        screen = app.screen
        assert isinstance(screen, BuffersScreen)
        assert screen.query_one(VirtualTable).cursor == 2


async def test_a_bad_filter_is_asked_for_again_where_it_was_typed() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "slash")
        assert "enter: to the buffers (4)" in status(app)
        await press(pilot, *"re:(", "enter")
        assert status(app).startswith("not a regular expression")
        assert screen_text(app).splitlines()[-1].startswith("filter of buffers: re:(")
        await press(pilot, "escape")
        assert not isinstance(app.screen, Prompt)
        assert "Verdict: diverged" in screen_text(app)


async def test_upper_and_lower_case_are_the_same() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "colon", *"FIRST", "enter")
        assert "Buffers: init" in screen_text(app)
        await press(pilot, "slash", *"OUTCOME", "enter")
        assert "1 of 2 filtered events differs" in screen_text(app)
        await press(pilot, "slash", *"zzz", "enter")
        assert "Buffers: init, no event has such a name" in screen_text(app)
        await press(pilot, "escape", "colon", *"HEAD", "enter")
        assert "agent.outcome_head.weight" in status(app)


async def test_a_name_that_is_asked_for_again_is_the_next_one() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        for place, name in (("1 of 2", "python"), ("2 of 2", "numpy"), ("1 of 2", "python")):
            await press(pilot, "colon", *"rng", "enter")
            assert status(app) == f"rng.{name}@init, {place} with rng  (again: the next)"


async def test_the_prompt_names_steps_that_exist() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "colon")
        assert status(app).startswith("3, step 3, init, ")
