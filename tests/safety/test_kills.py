"""However the trainer dies: the run opens, its steps are whole, and it says what is missing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format import schema
from bisect_debugger.runs import open_run
from tests.safety.processes import Told, environment, recorder, start, told
from tests.verification import verify, verify_chain

SECONDS = 1.0
"""The recording's longest time between flushes, unless a test says otherwise."""

SLACK = 1.0
"""What a loaded machine may add between a step's end and the moment it is told of."""


def info(path: Path) -> dict[str, object]:
    """What the `info` command says of a run."""
    done = subprocess.run(
        [sys.executable, "-m", "bisect_debugger.cli", "info", "--json", str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    facts: dict[str, object] = json.loads(done.stdout)
    return facts


def holds_all_but_the_last(path: Path, said: Told, flush_seconds: float, ended: float) -> int:
    """Open, prove every digest, and compare with what the trainer said; the last whole step.

    Args:
        path: the run.
        said: steps that the trainer told of.
        flush_seconds: of the recording.
        ended: when the trainer died, on the clock of the side channel.
    """
    with open_run(path) as run:
        assert not run.facts.complete
        if run.facts.level == "coarse":
            verify_chain(run)
        else:
            verify(run)
        steps = run.steps(0, run.step_count).step.tolist()
        assert steps == list(range(schema.INIT_STEP, len(steps) - 1))
        last = run.last_step
    # The trainer's word may be one step behind: it closes a step, and then says so.
    assert last <= said.last + 1
    missing = said.moments[last + 1 :]
    # The first missing step is younger than a flush may wait, or is the last one.
    assert len(missing) <= 1 or ended - missing[0] <= flush_seconds + SLACK
    return last


def killed_at_random(
    folder: Path, level: str, dice: random.Random, *, unedited: bool
) -> tuple[Path, Told, float]:
    """Start a trainer, kill it at a random moment of its training."""
    out, channel = folder / "a.h5", folder / "told"
    options: dict[str, str | Path | float] = {"told": channel, "steps": 100_000, "pause": 0.001}
    if unedited:
        trainer = start(*recorder("-o", str(out), "--level", level), **options)
    else:
        trainer = start(**options, out=out, level=level, flush=SECONDS)
    # Also before the first step, where datasets are made and init is written.
    goal = dice.choice((-1, 0, 1, dice.randrange(2, 400)))
    deadline = time.monotonic() + 100
    while told(channel).last < goal or not any(folder.glob("a*.h5")):
        assert trainer.poll() is None, trainer.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(dice.random() * 0.02)
    os.killpg(trainer.pid, signal.SIGKILL)
    ended = time.monotonic()
    trainer.communicate()
    return next(folder.glob("a*.h5")), told(channel), ended


def is_laid_out(path: Path) -> bool:
    """Creating the file was finished."""
    try:
        open_run(path).close()
    except UnreadableRun:
        return False
    return True


def check_killed(folder: Path, number: int) -> None:
    level = ("coarse", "digest", "stats", "full")[number % 4]
    unedited = number % 3 == 2
    path, said, ended = killed_at_random(folder, level, random.Random(number), unedited=unedited)
    if said.last < 0 and not is_laid_out(path):
        # Killed while the datasets were made: there was nothing yet that could be lost.
        return
    last = holds_all_but_the_last(path, said, SECONDS, ended)
    facts = info(path)
    assert facts["last_step"] == last
    assert facts["complete"] is False
    assert "killed" in str(facts["end_reason"])
    assert facts["level"] == level


@pytest.mark.parametrize("number", range(12))
def test_sigkill_at_a_random_moment(tmp_path: Path, number: int) -> None:
    check_killed(tmp_path, number)


@pytest.mark.long
@pytest.mark.parametrize("number", range(12, 212))
def test_sigkill_two_hundred_times(tmp_path: Path, number: int) -> None:
    check_killed(tmp_path, number)


def died(folder: Path, way: str, when: str, **options: str | float) -> tuple[int, str, Path]:
    """Exit code, stderr and run of a trainer that dies at step 20."""
    out = folder / "a.h5"
    trainer = start(told=folder / "told", out=out, steps=40, at=20, way=way, when=when, **options)
    _, said = trainer.communicate(timeout=120)
    return trainer.returncode, said, out


ABRUPT = {
    "abort": -signal.SIGABRT,
    "segfault": -signal.SIGSEGV,
    "SIGKILL": -signal.SIGKILL,
    "SIGTERM": -signal.SIGTERM,
    "SIGHUP": -signal.SIGHUP,
    "_exit": 7,
    "cpu": -signal.SIGKILL,
}


@pytest.mark.parametrize("way", ABRUPT)
def test_an_end_that_python_does_not_see(tmp_path: Path, way: str) -> None:
    when = "within" if way in ("abort", "SIGTERM") else "after"
    code, said, out = died(tmp_path, way, when, flush=0)
    assert code == ABRUPT[way]
    assert "bisect-debugger" not in said
    with open_run(out) as run:
        # Every step was flushed, and the one that it died in had begun at most.
        assert run.last_step == told(tmp_path / "told").last
        assert "killed" in run.facts.end_reason
        verify(run)


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("raise", "the trainer raised ValueError: the loss is not a number"),
        ("memory", "the trainer raised RuntimeError: "),
        ("SIGINT", "the trainer raised KeyboardInterrupt: "),
    ],
)
@pytest.mark.parametrize("when", ["within", "after"])
def test_an_end_that_python_sees(tmp_path: Path, way: str, when: str, reason: str) -> None:
    # Nothing is flushed by time: what the end finds unwritten is written then.
    code, said, out = died(tmp_path, way, when, flush=1000)
    assert code != 0
    assert "bisect-debugger" not in said
    with open_run(out) as run:
        assert run.facts.end_reason.startswith(reason)
        last = told(tmp_path / "told").last
        # Within a step, what it had done stands in a row that no optimizer closed.
        assert run.last_step == (last + 1 if when == "within" else last)
        assert run.is_closed(run.last_step) == (when == "after")
        verify(run)


def test_interrupted_twice(tmp_path: Path) -> None:
    out, channel = tmp_path / "a.h5", tmp_path / "told"
    trainer = start(told=channel, out=out, steps=100_000, pause=0.001, level="full", flush=0)
    while told(channel).last < 20:
        assert trainer.poll() is None
        time.sleep(0.005)
    # The second one comes while the first is on its way out, wherever that is.
    trainer.send_signal(signal.SIGINT)
    time.sleep(0.003)
    trainer.send_signal(signal.SIGINT)
    trainer.communicate(timeout=60)
    ended = time.monotonic()
    assert trainer.returncode != 0
    holds_all_but_the_last(out, told(channel), 0.0, ended)
