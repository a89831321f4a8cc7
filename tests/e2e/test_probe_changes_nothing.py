"""A run with probes ends in the same bits as the run without, and leaves nothing behind.

Three processes train the same small trainers from the same seeds: bare, probed, and probed
again. What they ended in must be equal, and so must the two recordings, event by event.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bisect_debugger.runs import open_run
from tests.e2e import neutral_corners, neutral_models  # noqa: F401 - importing fills TRAINERS
from tests.e2e.neutral_job import TRAINERS

ROOT = Path(__file__).parents[2]
NAMES = sorted(TRAINERS)
Events = list[tuple[int, list[tuple[str, tuple[int, ...], int]]]]


def start(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.e2e.neutral_run", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("neutral")
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    running = {
        "bare": start("bare", folder / "bare.json"),
        "a": start("probed", folder / "a.json", folder / "a", "digest"),
        "b": start("probed", folder / "b.json", folder / "b", "full"),
    }
    results: dict[str, Any] = {"folder": folder}
    for name, process in running.items():
        _, errors = process.communicate(timeout=280)
        assert process.returncode == 0, f"{name}: {errors}"
        results[name] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        results[f"{name} says"] = errors
    return results


def events_of(path: Path) -> Events:
    """Every event of a run: step number, then buffer, digest and flags in order."""
    with open_run(path) as run:
        found: Events = []
        for row in range(run.step_count):
            block = run.events(row)
            names = [run.buffers[index].name for index in block.buffer.tolist()]
            digests = [tuple(pair) for pair in block.digest.tolist()]
            events = list(zip(names, digests, block.flags.tolist(), strict=True))
            found.append((run.step_number(row), events))
        return found


def test_every_trainer_ran(processes: Mapping[str, Any]) -> None:
    assert sorted(processes["bare"]) == NAMES
    assert len(NAMES) == 25


@pytest.mark.parametrize("name", NAMES)
def test_probed_runs_end_in_the_same_bits(processes: Mapping[str, Any], name: str) -> None:
    bare = processes["bare"][name]["end"]
    assert processes["a"][name]["end"] == bare
    assert processes["b"][name]["end"] == bare


@pytest.mark.parametrize("name", NAMES)
def test_two_recordings_are_equal_event_by_event(processes: Mapping[str, Any], name: str) -> None:
    first = events_of(processes["folder"] / "a" / f"{name}.h5")
    second = events_of(processes["folder"] / "b" / f"{name}.h5")
    assert first == second
    assert [step for step, _ in first][:2] == [-1, 0]
    assert all(events for _, events in first)


@pytest.mark.parametrize("name", NAMES)
def test_recordings_are_complete(processes: Mapping[str, Any], name: str) -> None:
    with open_run(processes["folder"] / "a" / f"{name}.h5") as run:
        assert (run.facts.complete, run.facts.end_reason) == (True, "")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_on_exit(processes: Mapping[str, Any], name: str) -> None:
    assert processes["a"][name]["left"] == []
    assert processes["b"][name]["left"] == []


def test_probes_say_nothing(processes: Mapping[str, Any]) -> None:
    assert processes["a says"] == processes["bare says"]


def test_the_trainers_can_tell(processes: Mapping[str, Any]) -> None:
    """One draw too many moves every trainer's end; else equal ends would mean nothing."""
    bare = processes["bare"]
    for name in NAMES:
        end, disturbed = bare[name]["end"], bare[name]["disturbed"]
        assert end["parameters"] != disturbed["parameters"], name
        assert end["torch stream"] != disturbed["torch stream"], name
        assert end["numpy stream"] == disturbed["numpy stream"], name
