"""What the keys do, on the shipped twins and on small runs."""

from pathlib import Path

import pytest
from textual import events

from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.screens.buffers import BuffersScreen
from bisect_debugger.tui.widgets.table import VirtualTable
from tests.runs import nudged, plain_steps, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text, settled, status

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")


def buffers(app: BisectApp) -> BuffersScreen:
    screen = app.screen
    assert isinstance(screen, BuffersScreen)
    return screen


async def test_enter_goes_from_the_origin_to_its_values_and_back() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "enter")
        assert "Buffer: agent.outcome_head.weight" in screen_text(app)
        assert "0x" in screen_text(app)
        await press(pilot, "escape")
        assert "Buffers: init" in screen_text(app)
        await press(pilot, "escape")
        assert "Verdict: diverged" in screen_text(app)


async def test_the_second_origin_tells_its_own_story() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "j", "enter")
        assert "Buffer: agent.iqn_head.tau_sampler.out" in screen_text(app)


async def test_next_and_previous_divergence_cross_steps() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        assert "Buffers: init" in screen_text(app)
        await press(pilot, "G", "n")
        assert "Buffers: step 0" in screen_text(app)
        await press(pilot, "n", "N")
        assert buffers(app).query_one(VirtualTable).cursor == 0
        await press(pilot, "N")
        assert "Buffers: init" in screen_text(app)
        assert buffers(app).query_one(VirtualTable).cursor == len(buffers(app).listed) - 1
        await press(pilot, "g", "N")
        assert status(app) == "no earlier event differs"


async def test_filter_hides_and_a_bad_one_is_explained() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "G", "n", "slash", *"outcome", "enter")
        names = [row.name for row in buffers(app).listed]
        assert names
        assert all("outcome" in name for name in names)
        await press(pilot, "slash", *(["backspace"] * 7), *"re:(", "enter")
        assert "not a regular expression" in screen_text(app)
        await press(pilot, "escape")
        assert [row.name for row in buffers(app).listed] == names
        await press(pilot, "slash", *(["backspace"] * 7), *"!outcome", "enter")
        assert not any("outcome" in row.name for row in buffers(app).listed)


async def test_equal_rows_are_counted_and_shown_on_demand() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        hidden = len(buffers(app).rows) - len(buffers(app).listed)
        assert f"{hidden} equal hidden" in screen_text(app)
        await press(pilot, "u")
        assert len(buffers(app).listed) == len(buffers(app).rows)


async def test_go_to_a_step_a_name_and_nowhere() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "colon", *"step", "space", "2", "enter")
        assert "Buffers: step 2" in screen_text(app)
        await press(pilot, "colon", *"encoder.out", "enter")
        chosen = buffers(app).chosen
        assert chosen is not None
        assert "encoder.out" in chosen.name
        await press(pilot, "colon", *"9999", "enter")
        assert "Buffers: step 2" in screen_text(app)
        await press(pilot, "colon", *"first", "enter")
        assert "Buffers: init" in screen_text(app)


async def test_sorting_by_name() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "G", "n", "s")
        names = [row.name for row in buffers(app).listed]
        assert names == sorted(names)


async def test_a_click_moves_and_a_second_click_goes_in() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f")
        await pilot.click("#events", offset=(5, 1))
        await press(pilot)
        assert buffers(app).query_one(VirtualTable).cursor == 1
        await pilot.click("#events", offset=(5, 1))
        await press(pilot)
        assert "Buffer: " in screen_text(app)


async def test_runs_of_another_length_and_level_digest(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(4), level="digest")
    b = write_run(tmp_path / "b.h5", plain_steps(2, s1_out=values(77)), level="digest")
    async with opened(a, b) as (app, pilot):
        await press(pilot, "3")
        assert "Timeline: 3 steps" in screen_text(app)
        await press(pilot, "f", "enter")
        assert "record at level full" in screen_text(app).replace("\n", " ")


async def test_the_state_of_a_generator_is_never_asked_to_be_recorded_in_full() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "f", "g", "enter")
        text = screen_text(app).replace("\n", " ")
        assert "Buffer: rng.python@init" in text
        assert "kept as a digest only" in text
        assert "level full" not in text


async def test_level_coarse_says_that_no_event_was_recorded(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), level="coarse")
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=values(77)), level="coarse")
    async with opened(a, b) as (app, pilot):
        assert "buffers were not recorded" in screen_text(app).replace("\n", " ")
        await press(pilot, "f")
        assert "no event was recorded in this step" in screen_text(app)


@pytest.mark.parametrize("size", [(60, 15), (40, 10)])
async def test_small_terminals_do_not_break(size: tuple[int, int]) -> None:
    async with opened(*TWINS, size) as (app, pilot):
        for key in ("2", "3", "f", "enter", "6", "question_mark"):
            await press(pilot, key)
            assert len(screen_text(app).splitlines()) == size[1]
        await pilot.resize_terminal(200, 50)
        await press(pilot, "1")
        assert "Verdict: diverged" in screen_text(app)


async def test_a_key_typed_right_behind_enter_is_done_behind_it() -> None:
    async with opened(*TWINS, size=(120, 40)) as (app, pilot):
        await press(pilot, "f")
        # Both wait in one queue, as what is typed faster than the UI follows.
        app.post_message(events.Key("enter", None))
        app.post_message(events.Key("7", "7"))
        await settled(pilot)
        assert screen_text(app).startswith(" Growth: agent.outcome_head.weight")


async def test_a_single_origin_leaves_the_keys_to_the_text_below_it(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    async with opened(a, b) as (app, pilot):
        assert "down: more text" in status(app)
        assert "Not proven: " not in screen_text(app)
        await press(pilot, "end")
        assert "Not proven: `bisect-debugger twin --explain -- CMD`" in screen_text(app)
        await press(pilot, "enter")
        assert screen_text(app).startswith(" Buffer: net.head.out")
