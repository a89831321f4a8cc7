"""What each screen says where it has nothing to show, or cannot read what it should."""

import shutil
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import diagnose_pair
from bisect_debugger.diagnosis.findings import keep
from bisect_debugger.diagnosis.model import Alternative, Experiment, Zoom
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import THREAD_BESIDE
from bisect_debugger.runs.operators import Excerpt
from bisect_debugger.tui.app import BisectApp
from bisect_debugger.twins import open_pair
from tests.runs import nudged, plain_steps, values, write_run
from tests.tui.screens import opened, press, screen_text, settled, status


def _words(text: str) -> str:
    return " ".join(text.split())


async def test_runs_of_another_length_are_equal_as_far_as_both_go(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(4))
    b = write_run(tmp_path / "b.h5", plain_steps(2))
    async with opened(a, b) as (app, _):
        assert "One run goes on after the other ended" in _words(screen_text(app))
    shorter = write_run(tmp_path / "c.h5", plain_steps(2), end="")
    async with opened(a, shorter) as (app, _):
        text = _words(screen_text(app))
        assert "Verdict: inconclusive" in text
        assert "Compared: 3 steps, init to step 1." in text
        assert "The runs are not equally long" in text
        assert "record both runs to their end" in text


async def test_a_run_that_was_killed_is_said_to_be(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(3))
    b = write_run(tmp_path / "b.h5", plain_steps(3), end="", reason="")
    async with opened(a, b) as (app, pilot):
        assert "killed, or still running" in _words(screen_text(app))
        await press(pilot, "0")
        assert "≠ ended" in screen_text(app)


async def test_another_structure_is_named(tmp_path: Path) -> None:
    steps = plain_steps(2)
    steps[1].append((Group.FORWARD, "net.extra.out", values(9)))
    a = write_run(tmp_path / "a.h5", steps)
    b = write_run(tmp_path / "b.h5", plain_steps(2))
    async with opened(a, b) as (app, pilot):
        await press(pilot, "f")
        assert "∅ forward      net.extra.out" in screen_text(app)
        await press(pilot, "enter")
        assert "Only the first run has this event" in _words(screen_text(app))


async def test_a_coarse_recording_says_what_it_cannot_tell(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(), level="coarse")
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=values(77)), level="coarse")
    expected = {
        "1": "record at level digest to see which",
        "4": "no event was recorded in this step",
        "7": "Not recorded: the runs hold no single events",
        "8": "No origin is known",
        "9": "No experiment was run",
    }
    async with opened(a, b) as (app, pilot):
        for key, words in expected.items():
            await press(pilot, key)
            assert words in _words(screen_text(app)), key
        await press(pilot, "3")
        assert "forward   ·  =" in screen_text(app).replace("     ", "  ")


async def test_an_onset_in_the_first_recorded_step_may_have_been_earlier(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(3)[2:], first_step=7)
    b = write_run(tmp_path / "b.h5", plain_steps(3, s1_out=nudged(values(21)))[2:], first_step=7)
    async with opened(a, b) as (app, _):
        assert "the runs may have differed before" in _words(screen_text(app))


async def test_a_step_that_cannot_be_read_is_told_and_ends_nothing(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(3))
    b = write_run(tmp_path / "b.h5", plain_steps(3, s2_out=nudged(values(22))))
    with h5py.File(a, "r+") as file:
        # The second step claims a buffer that is not there.
        where = int(file["steps/first_event"][1])
        file["events/buffer"][where] = np.uint32(4_000_000)
    async with opened(a, b) as (app, pilot):
        await press(pilot, "colon", *"0", "enter")
        text = _words(screen_text(app))
        assert "a.h5: " in text
        assert "damaged" in text
        await press(pilot, "colon", *"2", "enter")
        assert "Buffers: step 2, 1 of 5 events differ" in screen_text(app)


async def test_a_comparison_that_cannot_be_made_leaves_the_other_screens(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps(3))
    b = write_run(tmp_path / "b.h5", plain_steps(3, s1_out=nudged(values(21))))
    with h5py.File(a, "r+") as file:
        where = int(file["steps/first_event"][2])
        file["events/buffer"][where] = np.uint32(4_000_000)
    async with opened(a, b) as (app, pilot):
        text = _words(screen_text(app))
        assert "Verdict: none" in text
        assert "damaged" in text
        await press(pilot, "0")
        assert "recorded at" in screen_text(app)


@pytest.mark.parametrize("typed", ["²", "step ²", "9" * 60, "\N{ARABIC-INDIC DIGIT ONE}"])
async def test_what_is_no_place_gets_a_sentence(typed: str, tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    async with opened(a, b) as (app, pilot):
        await app.navigator.go_to(typed)
        assert status(app)
        assert "Verdict: bit-equal" in screen_text(app)
        await press(pilot, "4")


async def test_several_ranks_and_pairs_can_be_switched_between(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a.h5", plain_steps())
    second = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    third = tmp_path / "c.h5"
    shutil.copy(first, third)
    ranks = [write_run(tmp_path / f"r{n}.h5", plain_steps()) for n in (0, 1)]
    for path in ranks:
        with h5py.File(path, "r+") as file:
            file.attrs["rank"] = 1
    app = BisectApp(paths=[first, second, third, *ranks])
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert [(pair.rank, Path(pair.a).name, Path(pair.b).name) for pair in app.pairs.lines] == [
            (0, "a.h5", "b.h5"),
            (0, "a.h5", "c.h5"),
            (0, "b.h5", "c.h5"),
            (1, "r0.h5", "r1.h5"),
        ]
        assert "Verdict: diverged" in screen_text(app)
        await press(pilot, "f", "slash", *"out", "enter", "right_square_bracket")
        assert "Verdict: bit-equal" in screen_text(app)
        assert status(app) == "pair 2 of 4"
        await press(pilot, "left_square_bracket", "left_square_bracket")
        assert app.pairs.number == 3
        await press(pilot, "0")
        text = screen_text(app)
        assert "Runs: pair 4 of 4" in text
        assert "rank 1: bit-equal" in text
        await press(pilot, "enter")
        assert "Verdict: diverged" in screen_text(app)
        await press(pilot, "4")
        assert 'filter "out"' in screen_text(app), "a filter holds for every pair"


async def test_each_pair_shows_its_own_experiments_or_why_it_has_none(tmp_path: Path) -> None:
    a, b, c = (
        write_run(tmp_path / f"{name}.h5", plain_steps(s1_out=nudged(values(21), by=by)))
        for name, by in (("a", 1e-3), ("b", 2e-3), ("c", 3e-3))
    )
    with open_pair(a, c) as pair:
        plain = diagnose_pair(pair)
        keep(replace(plain, experiments=(Experiment(("clock",), 3, 3, ()),)), plain, pair)
    app = BisectApp(paths=[a, b, c])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "9")
        text = _words(screen_text(app))
        assert "No experiment was run on this pair." in text
        assert f"{a} and {c}" in "".join(text.split()).replace("and", " and ")
        assert status(app).startswith("0: choose pair 2, which has some")
        await press(pilot, "right_square_bracket", "9")
        assert "Experiments: 1 tried; all pairs equal with clock" in screen_text(app)
        assert "= clock" in screen_text(app)
        await press(pilot, "right_square_bracket", "9")
        assert "No experiment was run on this pair." in _words(screen_text(app))


async def test_what_only_the_driver_knew_is_there_again_when_a_pair_is(tmp_path: Path) -> None:
    a, b = (write_run(tmp_path / f"{name}.h5", plain_steps()) for name in "ab")
    c = write_run(tmp_path / "c.h5", plain_steps(s1_out=nudged(values(21))))
    app = BisectApp(paths=[a, b, c])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.session.diagnosis = replace(
            await app.session.diagnose(), remarks=("The control said so.",)
        )
        await press(pilot, "right_square_bracket", "left_square_bracket")
        assert "Verdict: bit-equal, pair 1 of 3" in screen_text(app)
        assert "The control said so." in _words(screen_text(app))


async def test_another_pair_leaves_no_event_of_the_one_before(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a.h5", plain_steps())
    second = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    third = write_run(tmp_path / "c.h5", plain_steps(s1_out=nudged(values(22))))
    app = BisectApp(paths=[first, second, third])
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        # The events were listed while their screen was not on top.
        await press(pilot, "enter", "right_square_bracket", "4")
        assert "1 of 5 events differs" in screen_text(app)


async def test_a_proven_origin_and_its_operator_are_shown(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("".join(f"x{n} = {n}\n" for n in range(1, 12)))
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    async with opened(a, b, (80, 60)) as (app, pilot):
        found = await app.session.diagnose()
        origin = replace(
            found.origins[0], proven=True, operator="aten::index_add_", location="train.py:9"
        )
        app.session.diagnosis = replace(found, origins=(origin,))
        app.navigator.forget()
        await press(pilot, "1")
        text = screen_text(app)
        assert "proven" in text
        assert "aten::index_add_ at train.py:9" in text
        assert ">     9  x9 = 9" in text


async def test_code_that_was_recorded_goes_before_what_lies_here(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a.h5", plain_steps())
    b = write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))
    zoom = Zoom(
        found="kernel",
        operator="aten::add",
        overload="Tensor",
        location="model.py:31",
        module="net.head",
        node="",
        number=0,
        excerpt=Excerpt(30, ("def forward(self, x):", "    return x + \x1b[2Jy", "")),
    )
    async with opened(a, b, (80, 60)) as (app, pilot):
        found = await app.session.diagnose()
        origin = replace(
            found.origins[0],
            operator="aten::add",
            location="model.py:31",
            zoom=zoom,
            alternatives=(Alternative(Cause.ENVIRONMENT, "both ran on one machine"),),
        )
        app.session.diagnosis = replace(found, origins=(origin,))
        app.navigator.forget()
        await press(pilot, "1")
        text = screen_text(app)
        assert "aten::add at model.py:31" in text
        assert "> 31      return x + \\x1b[2Jy" in text
        assert "- environment: both ran on one machine" in text
        # Lines that hold nothing, around another place than the one that is named.
        blank = replace(zoom, excerpt=Excerpt(1, ("", "")))
        app.session.diagnosis = replace(found, origins=(replace(origin, zoom=blank),))
        app.navigator.forget()
        await press(pilot, "1")
        assert "aten::add at model.py:31" in screen_text(app)


async def test_cells_say_where_the_events_of_threads_are(tmp_path: Path) -> None:
    for threads, told in (((), False), ((f"{THREAD_BESIDE}actor",), True)):
        folder = tmp_path / str(len(threads))
        folder.mkdir()
        a, b = (write_run(folder / f"{x}.h5", plain_steps(), uncovered=threads) for x in "ab")
        async with opened(a, b) as (app, pilot):
            await press(pilot, "3")
            assert ("threads beside the training are in no cell" in screen_text(app)) is told
