"""Lines that stand for several, keys that have nothing to do, and what a pair keeps."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bisect_debugger.tui.app import BisectApp
from bisect_debugger.tui.screens.palette import Palette
from bisect_debugger.tui.widgets.table import VirtualTable
from tests.runs import nudged, plain_steps, values, write_run
from tests.tui.screens import SAMPLES, opened, press, screen_text, settled, status

TWINS = (SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5")
CLEAN = (SAMPLES / "clean" / "a.h5", SAMPLES / "clean" / "b.h5")
FOLDED = "2 random streams differ outside the training  u: show"


@pytest.mark.parametrize("twins", [TWINS, CLEAN], ids=["diverged", "equal"])
async def test_streams_outside_the_training_are_one_line_until_asked_for(
    twins: tuple[Path, Path],
) -> None:
    async with opened(*twins) as (app, pilot):
        assert FOLDED in screen_text(app)
        assert "rng.python  seed-not-applied" not in screen_text(app)
        await press(pilot, "u")
        assert FOLDED not in screen_text(app)
        assert "rng.python  seed-not-applied, init, outside the training" in screen_text(app)
        await press(pilot, "u", "G")
        assert "rng.python, rng.numpy" in screen_text(app) or twins is CLEAN
        await press(pilot, "enter")
        assert "rng.numpy  seed-not-applied, init, outside the training" in screen_text(app)


async def test_code_stands_below_what_to_do_without_scrolling() -> None:
    async with opened(*TWINS) as (app, _):
        lines = screen_text(app).splitlines()
        where = next(n for n, line in enumerate(lines) if line.startswith("Where: "))
        assert lines[where - 1].startswith("Do first: ")
        assert lines[where + 3].startswith("> 132 ")
        assert "Why" in lines


async def test_what_was_answered_no_is_one_line_until_asked_for() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "2")
        questions = int(screen_text(app).splitlines()[0].split()[-2])
        table = app.screen.query_one("#questions", VirtualTable)
        before = table.count
        line = (
            screen_text(app).splitlines()[1:].index("  3 questions answered no, enter shows them")
        )
        await press(pilot, *(["down"] * line))
        assert "- Is it a batch or a replay sample?" in screen_text(app)
        await press(pilot, "enter")
        assert table.count == before + 2
        assert "> Is it a batch or a replay sample?" in screen_text(app)
        # Two origins have a head each; all other lines are questions or stand for some.
        assert before < questions


async def test_a_key_that_has_nothing_to_do_says_so() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "2")
        for key, answer in (
            ("u", "u: nothing is hidden here"),
            ("s", "s: there is one order here; buffers (4) have more"),
            ("plus", "+: no second pane stands beside this one"),
        ):
            await press(pilot, key)
            assert status(app) == answer


async def test_enter_in_the_pane_of_text_goes_in_as_well() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "tab", "enter")
        assert "Buffer: agent.outcome_head.weight" in screen_text(app)


async def test_the_palette_is_paged() -> None:
    async with opened(*TWINS) as (app, pilot):
        await press(pilot, "ctrl+p", "pagedown")
        assert isinstance(app.screen, Palette)
        table = app.screen.query_one(VirtualTable)
        assert table.cursor > 5
        await press(pilot, "pageup")
        assert table.cursor == 0


async def test_a_pair_says_which_pass_it_is(tmp_path: Path) -> None:
    late = plain_steps(s1_out=nudged(values(21)))
    runs = [
        write_run(tmp_path / f"{name}.h5", steps, level=level)
        for name, steps, level in (
            ("a.values", plain_steps(), "full"),
            ("b.values", late, "full"),
            ("c", late, "digest"),
        )
    ]
    for path in runs[:2]:
        with h5py.File(path, "r+") as file:
            file.attrs["window"] = "0:1"
    app = BisectApp(paths=runs)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "pair 1 of 3" in screen_text(app)
        assert [pair.kept for pair in app.pairs.lines] == ["with values, few steps"] * 3
    app = BisectApp(paths=[runs[2], *runs[:2]])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        title = " Verdict: bit-equal, pair 1 of 3 (all steps)  ]: next pair"
        assert title.replace("bit-equal", "diverged") in screen_text(app)
        await press(pilot, "right_square_bracket")
        assert status(app) == "pair 2 of 3, all steps"
        await press(pilot, "right_square_bracket")
        assert "pair 3 of 3 (with values, few steps)  [: previous pair" in screen_text(app)
        await press(pilot, "0")
        assert "rank 0, all steps: diverged" in screen_text(app)


async def test_a_low_window_has_whole_values_in_the_line_below() -> None:
    async with opened(*TWINS, (60, 15)) as (app, pilot):
        await press(pilot, "0", "down")
        text = screen_text(app)
        assert "2026-11-30T10:47:27+00:00 against 2026-11-30T10:47:32+00:00" in " ".join(
            text.split()
        )


async def test_labels_stand_as_integers_alone(tmp_path: Path) -> None:
    labels: Any = np.arange(12, dtype=np.int64).reshape(3, 4)
    other: Any = labels.copy()
    other[0, 2] = 2**62
    runs = [
        write_run(tmp_path / f"{name}.h5", plain_steps(**{"s1_in[0]": array}))
        for name, array in (("a", labels), ("b", other))
    ]
    async with opened(runs[0], runs[1]) as (app, pilot):
        await press(pilot, "f", "enter")
        text = screen_text(app)
        assert "> (0, 2)  2                    4611686018427387904" in text
        assert "first difference at index (0, 2): 2 against 4611686018427387904" in text
        assert "0x" not in text
        assert "relFro" not in text
