"""Runs `twin` on the cases and holds what it says against what is expected."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bisect_debugger.diagnosis import findings
from tests.causes.case import Case, Clean
from tests.e2e.command_line import cli

MOST_SECONDS = 3600
"""A case that takes longer is wrong: on a busy machine the time of all runs counts."""

MOST_TRIES = 3
"""Twins of a fault that fires by chance, until a pair shows it, as a user would try again."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a diagnosis says of its first origin; empty where it names none.

    Attributes:
        component: of the origin.
        cause: of the origin.
        proven: by experiment.
    """

    component: str = ""
    cause: str = ""
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `twin --explain` said of a case.

    Attributes:
        case: the case.
        verdict: of the twins; of a trainer that failed, how it ended.
        plain: what the recordings alone say.
        explained: what is said with experiments.
        knobs: of the smallest set that made the twins equal.
        seconds: that it all took.
        diagnosis: all of it.
        tries: twins that it took until a pair differed.
    """

    case: Case | Clean
    verdict: str
    plain: Told
    explained: Told
    knobs: tuple[str, ...]
    seconds: float
    diagnosis: dict[str, Any]
    tries: int = 1

    @property
    def is_right_component(self) -> bool:
        """It names what a person would change."""
        return isinstance(self.case, Case) and self.case.is_at(self.explained.component)

    @property
    def is_right_cause(self) -> bool:
        """It names what the fault is."""
        return isinstance(self.case, Case) and self.explained.cause in self.case.causes

    @property
    def is_right_unexplained(self) -> bool:
        """The recordings alone say what the fault is."""
        return isinstance(self.case, Case) and self.plain.cause in self.case.causes


def judge(case: Case | Clean, *, explain: bool, budget: str = "5m") -> Outcome:
    """Run the twins of a case; of a fault that did not fire, again.

    Args:
        case: the case.
        explain: with experiments.
        budget: time for these.
    """
    tries, most = 1, MOST_TRIES if isinstance(case, Case) else 1
    while (found := _once(case, budget if explain else "")).verdict == "bit-equal" and tries < most:
        tries += 1
    return replace(found, tries=tries)


def _once(case: Case | Clean, budget: str) -> Outcome:
    started = time.monotonic()
    runs = case.runs if isinstance(case, Case) else 2
    with tempfile.TemporaryDirectory() as folder:
        diagnosis, words = _twin(case, Path(folder), runs, budget)
        plain = _plain(diagnosis, Path(folder)) if budget else _first_origin(diagnosis)
    experiments = diagnosis.get("experiments") or []
    return Outcome(
        case=case,
        verdict=str(diagnosis.get("verdict", words)),
        plain=plain,
        explained=_first_origin(diagnosis),
        knobs=_smallest(experiments),
        seconds=time.monotonic() - started,
        diagnosis=diagnosis,
    )


def _twin(case: Case | Clean, folder: Path, runs: int, budget: str) -> tuple[dict[str, Any], str]:
    """The diagnosis, or nothing and how it ended."""
    options = ["--explain", "--budget", budget] if budget else []
    try:
        done = _cli_twin(case, folder, runs, options)
    except subprocess.TimeoutExpired:
        return {}, f"not done after {MOST_SECONDS} s"
    if not done.stdout:
        return {}, f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found, ""


def _cli_twin(
    case: Case | Clean, folder: Path, runs: int, options: list[str]
) -> "subprocess.CompletedProcess[str]":
    return cli(
        *("twin", "--no-tui", "-o", folder / "t", "--json", "-", "--runs", runs, *options),
        *("--", sys.executable, case.path),
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=MOST_SECONDS,
    )


def _plain(diagnosis: dict[str, Any], folder: Path) -> Told:
    """What `compare` says of the runs that the diagnosis is about, without what was proven."""
    if not diagnosis.get("origins"):
        return Told()
    paths = [run["path"] for run in diagnosis["runs"]]
    (folder / paths[0]).with_name(findings.NAME).unlink(missing_ok=True)
    done = cli("compare", *paths, "--json", "-", cwd=folder)
    return _first_origin(json.loads(done.stdout)) if done.stdout else Told()


def _first_origin(diagnosis: dict[str, Any]) -> Told:
    for origin in diagnosis.get("origins") or ():
        return Told(origin["component"], origin["cause"], origin["proven"])
    return Told()


def _smallest(experiments: list[dict[str, Any]]) -> tuple[str, ...]:
    held: list[list[str]] = [
        each["knobs"]
        for each in experiments
        if each["knobs"] and each["pairs"] and each["pairs"] == each["equal_pairs"]
    ]
    return tuple(sorted(held, key=len)[0]) if held else ()
