"""What listeners make of the events of a driver: a run, all runs, and what another thread sees."""

from pathlib import Path

import pytest

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
    RunView,
    StillRunning,
    Told,
    TrainerSaid,
    TwinsBegan,
    TwinsView,
    Watched,
)
from bisect_debugger.progress.watched import OUTPUT_KEPT

FIRST = RunBegan("run 1 of 2", Phase.RECORDED, None, 100.0)
SECOND = RunBegan("run 2 of 2", Phase.COMPARED, 50, 200.0)


def advanced(step: int, at: float, digests: int = 0, compared: int = 0) -> RunAdvanced:
    return RunAdvanced(step, 2_500_000, digests, compared, at)


def run(*events: Event, began: RunBegan = SECOND) -> RunView:
    view = RunView(began)
    for event in events:
        view = view.after(event)
    return view


def twins(*events: Event) -> TwinsView:
    view = TwinsView()
    for event in events:
        view = view.after(event)
    return view


def test_the_rate_is_steps_between_first_and_latest_news() -> None:
    view = run(advanced(0, 210.0), advanced(10, 212.0), advanced(30, 215.0))
    assert view.rate == 6.0
    assert view.seconds_left(215.0) == pytest.approx(19 / 6)
    # Without news it counts down, and never below nothing.
    assert view.seconds_left(216.0) == pytest.approx(19 / 6 - 1)
    assert view.seconds_left(300.0) == 0.0
    assert view.fraction == 31 / 50
    assert view.words(215.0) == "step 30, 6 steps/s, 2.5 MB, 3 s left"


def test_nothing_is_guessed_from_one_piece_of_news() -> None:
    view = run(advanced(3, 210.0))
    assert (view.rate, view.seconds_left(211.0)) == (None, None)
    assert view.words(211.0) == "step 3, 2.5 MB"
    unknown = run(advanced(0, 1.0), advanced(9, 2.0), began=FIRST)
    assert (unknown.rate, unknown.seconds_left(2.0), unknown.fraction) == (9.0, None, None)
    assert run().words(204.4) == "starting (4 s)"


def test_the_first_onset_stays_and_the_end_tells_the_last_step() -> None:
    view = run(advanced(4, 210.0), OnsetSeen(5), OnsetSeen(7))
    assert (view.onset, view.step) == (5, 4)
    ended = view.after(RunEnded("run 2 of 2", Phase.COMPARED, "steps 0 to 7", 9.0, 7))
    assert (ended.step, ended.onset) == (7, 5)


def test_several_processes_are_as_far_as_the_last_of_them() -> None:
    news = (
        RunAdvanced(0, 10, 5, 1, 201.0, "rank 10"),
        RunAdvanced(0, 10, 5, 1, 201.0, "rank 2"),
        RunAdvanced(8, 30, 40, 9, 203.0, "rank 2"),
    )
    view = run(*news)
    assert [each.name for each in view.processes] == ["rank 2", "rank 10"]
    assert view.last == RunAdvanced(0, 40, 45, 10, 203.0)
    assert view.rate is None, "nothing is known of rank 10"
    view = run(*news, RunAdvanced(6, 30, 30, 7, 204.0, "rank 10"), OnsetSeen(6, "rank 10"))
    assert (view.rate, view.step, view.onset) == (2.0, 6, 6)
    assert [each.onset for each in view.processes] == [None, 6]
    assert view.after(OnsetSeen(4, "rank 2")).onset == 4


def test_news_go_to_the_run_that_goes_on() -> None:
    ended = RunEnded("run 1 of 2", Phase.RECORDED, "steps 0 to 9", 4.0, 9)
    view = twins(
        TwinsBegan(("python", "t.py"), Path("twins/1"), 2),
        FIRST,
        advanced(9, 103.0),
        ended,
        SECOND,
        advanced(2, 203.0, digests=60, compared=24),
        StillRunning(204.0),
    )
    first, second = view.runs
    assert (first.ended, first.step) == (ended, 9)
    assert view.running == second
    assert second.last == advanced(2, 203.0, digests=60, compared=24)
    judging = view.after(RunEnded("run 2 of 2", Phase.COMPARED, "", 1.0, 9)).after(Judging("steps"))
    assert (judging.running, judging.judging) == (None, "steps")
    again = judging.after(RunBegan("second pass, run 1 of 2", Phase.VALUES, 3, 300.0))
    assert (len(again.runs), again.judging) == (3, "")


def test_an_experiment_has_its_runs_apart() -> None:
    entropy = ExperimentBegan(("entropy",), "entropy", "a fixed stream")
    trial = RunBegan("pair 1 of 3", Phase.EXPERIMENT, 3, 400.0)
    view = twins(FIRST, ExperimentsBegan(600.0, 3, 390.0), entropy, trial, advanced(1, 401.0))
    assert view.trial is not None
    assert view.trial.step == 1
    assert view.running == view.trial
    done = view.after(ExperimentEnded("entropy", "3 of 3 pairs equal up to step 2"))
    assert [(each.began, each.words) for each in done.experiments] == [
        (entropy, "3 of 3 pairs equal up to step 2")
    ]
    assert len(done.runs) == 1


def test_another_thread_sees_view_last_lines_and_narration() -> None:
    watched = Watched()
    for event in (
        TwinsBegan(("t",), Path("twins/1"), 2),
        FIRST,
        TrainerSaid(b"0 %\r 50 %\r100 %\nlo"),
        TrainerSaid(b"ss \x1b[31m0.5\n"),
    ):
        watched(event)
    assert watched.look().lines == ("100 %", "loss \\x1b[31m0.5")
    assert watched.output() == b"0 %\r 50 %\r100 %\nloss \x1b[31m0.5\n"
    watched(RunEnded("run 1 of 2", Phase.RECORDED, "steps 0 to 3", 1.6, 3))
    watched(RunBegan("pair 1 of 3", Phase.EXPERIMENT, 3, 1.0))
    watched(RunEnded("pair 1 of 3", Phase.EXPERIMENT, "steps 0 to 3", 1.0, 3))
    watched(ExperimentEnded("entropy", "3 of 3 pairs equal"))
    watched(Told("interrupted; kept: a.h5"))
    assert watched.narration() == (
        "bisect-debugger: the runs go to twins/1",
        "bisect-debugger: run 1 of 2: steps 0 to 3 (2 s)",
        "bisect-debugger: experiment with entropy: 3 of 3 pairs equal",
        "bisect-debugger: interrupted; kept: a.h5",
    )
    # The output is that of the run that goes on.
    assert (watched.look().lines, watched.output()) == ((), b"")


def test_a_talkative_trainer_fills_no_memory() -> None:
    watched = Watched()
    watched(FIRST)
    pieces = [bytes([65 + number % 26]) * 60_000 + b"\n" for number in range(60)]
    for piece in pieces:
        watched(TrainerSaid(piece))
    assert watched.output() == b"".join(pieces)[-OUTPUT_KEPT:]
    assert max(map(len, watched.look().lines)) <= 500
