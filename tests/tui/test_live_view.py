"""The live screen as lines: what is said of runs and experiments, and what gives way to what."""

from pathlib import Path

import pytest
from rich.cells import cell_len

from bisect_debugger.progress import (
    Event,
    ExperimentBegan,
    ExperimentEnded,
    ExperimentsBegan,
    Judging,
    OnsetSeen,
    Phase,
    RunAdvanced,
    RunBegan,
    RunEnded,
    Seen,
    TwinsBegan,
    TwinsView,
)
from bisect_debugger.tui.live.view import duration, live_lines, title
from bisect_debugger.tui.look import Look

BEGAN = TwinsBegan(("python", "train.py", "--seed", "42"), Path(".bisect-debugger/twins/3"), 2)
FIRST = RunBegan("run 1 of 2", Phase.RECORDED, None, 0.0)
FIRST_ENDED = RunEnded("run 1 of 2", Phase.RECORDED, "steps 0 to 199", 16.4, 199)
SECOND = RunBegan("run 2 of 2", Phase.COMPARED, 200, 20.0)
SECOND_ENDED = RunEnded("run 2 of 2", Phase.COMPARED, "steps 0 to 33, differs", 16.4, 33)
OUTPUT = tuple(f"step {number} loss 0.5" for number in range(20))


def seen(*events: Event, lines: tuple[str, ...] = OUTPUT) -> Seen:
    view = TwinsView()
    for event in (BEGAN, *events):
        view = view.after(event)
    return Seen(view, lines)


def shown(what: Seen, now: float = 30.0, size: tuple[int, int] = (80, 21)) -> list[str]:
    return [line.plain for line in live_lines(what, now, *size, Look(ascii_only=True))]


def test_two_runs_and_the_last_lines_of_the_trainer() -> None:
    what = seen(
        FIRST,
        RunAdvanced(199, 10_000, 48_000, 0, 15.0),
        FIRST_ENDED,
        SECOND,
        RunAdvanced(0, 100, 240, 0, 21.0),
        RunAdvanced(99, 5_000, 24_000, 792, 30.0),
    )
    assert title(what.view) == "Live: run 2 of 2, compared with run 1 as it goes"
    assert shown(what)[:12] == [
        "python train.py --seed 42",
        "recordings go to .bisect-debugger/twins/3",
        "",
        "  run 1 of 2: recorded, to compare others with",
        "    steps 0 to 199, 48,000 digests, 16 s",
        "> run 2 of 2: compared with run 1 as it goes",
        "    step 99 of 199, 11 steps/s, 24,000 digests, about 9 s left",
        "    [###############---------------] 50 %",
        "    equal to run 1 so far (792 digests of groups compared)",
        "",
        "The trainer's last lines",
        "  step 10 loss 0.5",
    ]
    assert shown(what)[-1] == "  step 19 loss 0.5"


def test_nothing_is_called_equal_before_it_was_compared() -> None:
    what = seen(FIRST, FIRST_ENDED, SECOND, RunAdvanced(0, 100, 240, 0, 21.0))
    assert "    nothing compared yet" in shown(what)


def test_the_first_difference_is_said_as_it_comes() -> None:
    what = seen(FIRST, FIRST_ENDED, SECOND, RunAdvanced(31, 1, 9, 256, 22.0), OnsetSeen(31))
    assert "    differs from run 1 since step 31 (256 digests of groups compared)" in (shown(what))
    ended = Seen(what.view.after(SECOND_ENDED).after(Judging("all steps of the runs")), OUTPUT)
    assert title(ended.view) == "Live: comparing all steps of the runs"
    assert "# run 2 of 2: compared with run 1 as it goes" in shown(ended)
    assert "> comparing all steps of the runs ..." in shown(ended)


def test_each_rank_has_its_numbers() -> None:
    what = seen(
        FIRST,
        FIRST_ENDED,
        SECOND,
        RunAdvanced(0, 100, 240, 8, 21.0, "rank 0"),
        RunAdvanced(0, 100, 240, 8, 21.5, "rank 1"),
        RunAdvanced(40, 900, 9_600, 320, 25.0, "rank 0"),
        RunAdvanced(35, 800, 8_400, 280, 25.5, "rank 1"),
        OnsetSeen(35, "rank 1"),
    )
    lines = shown(what)
    start = lines.index("> run 2 of 2: compared with run 1 as it goes")
    assert lines[start + 1 : start + 6] == [
        # As far as both are, and as fast as the slower one.
        "    2 processes: step 35 of 199, 8.75 steps/s, 18,000 digests, about 14 s left",
        "    [#####-------------------------] 18 %",
        "    differs from run 1 since step 35 (600 digests of groups compared)",
        "    rank 1: step 35, 8.75 steps/s, 8,400 digests, differs since step 35",
        "    rank 0: step 40, 10 steps/s, 9,600 digests, equal so far",
    ]


def test_many_ranks_leave_room_and_those_that_differ_come_first() -> None:
    news = [RunAdvanced(10 + n, 1, 0, 8, 21.0, f"rank {n}") for n in range(12)]
    lines = shown(seen(FIRST, FIRST_ENDED, SECOND, *news, OnsetSeen(17, "rank 7")))
    start = lines.index("    rank 7: step 17, differs since step 17")
    assert lines[start + 1 : start + 4] == [
        "    rank 0: step 10, equal so far",
        "    rank 1: step 11, equal so far",
        "    9 more: steps 12 to 21",
    ]


def test_an_experiment_says_what_its_knob_does_and_how_far_the_budget_is() -> None:
    what = seen(
        FIRST,
        FIRST_ENDED,
        ExperimentsBegan(600.0, 3, 30.0),
        ExperimentBegan(("hashseed",), "hashseed", "PYTHONHASHSEED fixed"),
        ExperimentEnded("hashseed", "diverged at step 0"),
        ExperimentBegan(("entropy",), "entropy", "the system's entropy replaced"),
        RunBegan("pair 2 of 3", Phase.EXPERIMENT, 3, 110.0),
    )
    lines = shown(what, 115.0)
    start = lines.index("Experiments: 1 min 25 s of 10 min used; 3 equal pairs in a row prove it")
    assert lines[start + 1 : start + 4] == [
        "  hashseed: diverged at step 0",
        "> entropy: the system's entropy replaced",
        "    pair 2 of 3: starting, 5 s",
    ]


@pytest.mark.parametrize("size", [(60, 12), (80, 21), (120, 37), (20, 4), (200, 57)])
def test_however_much_happens_it_fits(size: tuple[int, int]) -> None:
    ended = [
        RunEnded(f"second pass, run {n} of 9", Phase.VALUES, "w" * 300, 1.0, 3) for n in range(9)
    ]
    began = [RunBegan(each.title, Phase.VALUES, 3, 1.0) for each in ended]
    runs = [event for pair in zip(began, ended, strict=True) for event in pair]
    tried = [ExperimentBegan((f"k{n}",), f"k{n}", "m" * 300) for n in range(30)]
    what = seen(
        *(FIRST, FIRST_ENDED, *runs, ExperimentsBegan(600.0, 3, 1.0), *tried),
        lines=("\u65e5" * 400, *("x" * 400 for _ in range(19))),
    )
    lines = shown(what, 9.0, size)
    assert len(lines) <= size[1]
    assert max(map(cell_len, lines)) <= size[0]
    assert lines[0] == "python train.py --seed 42"[: size[0]] or "…" in lines[0]
    # What goes on now is never what gives way; where there is room, some output stays too.
    assert any(line.startswith("> k29: m") for line in lines)
    if size[1] >= 12:
        assert sum(line.startswith("  xxx") for line in lines) >= 3
        assert any(line.startswith("  ... ") for line in lines) or size[1] > 40


def test_nothing_of_the_trainer_acts_on_the_terminal() -> None:
    what = seen(FIRST, lines=("\\x1b[2J [bold]no markup[/bold]",))
    (line,) = [line for line in shown(what) if "markup" in line]
    assert line == "  \\x1b[2J [bold]no markup[/bold]"
    assert cell_len(line) == len(line)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (85, "1 min 25 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
