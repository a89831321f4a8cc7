"""Runs that were kept from a release are read as that release wrote them; others are refused."""

import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.errors import UnreadableRun
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import FORMAT_VERSION, OLDEST_READ
from bisect_debugger.runs import open_run
from tests.safety.processes import ROOT, environment
from tests.safety.versions import FIXTURES, KINDS, fixture, unpacked
from tests.verification import verify

EXPECTED = {
    "complete": ("digest", True, "", 103, 0, "0bdcb76bebc455c40d8c0dc3df895c09"),
    "full": ("full", True, "", 103, 67, "0bdcb76bebc455c40d8c0dc3df895c09"),
    "incomplete": (
        "digest",
        False,
        "the trainer raised ValueError: no more",
        84,
        0,
        "c90a099252d45a1dab617c9025e416eb",
    ),
}
"""Level, complete, reason, events, contents, running digest; as read when they were written."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_run_is_read_as_it_was_written(tmp_path: Path, kind: str) -> None:
    level, complete, reason, events, contents, running = EXPECTED[kind]
    with open_run(unpacked(2, kind, tmp_path)) as run:
        facts = run.facts
        assert (facts.level, facts.complete, facts.end_reason) == (level, complete, reason)
        assert (run.step_count, run.last_step, run.event_count) == (4, 2, events)
        assert verify(run) == contents
        assert run.running_digest(3).hex() == running
        assert [call.call for call in facts.seeding] == ["torch.manual_seed"]
        assert facts.environment["argv"] == '["train.py"]'
        by_hand = [buffer.name for buffer in run.buffers if buffer.group is Group.USER]
        assert by_hand == ["brain", "größe"]
        assert run.is_closed(2) == complete


def test_kept_runs_are_compared(tmp_path: Path) -> None:
    paths = {kind: unpacked(2, kind, tmp_path) for kind in KINDS}
    found = diagnose([paths["complete"], paths["full"]])
    assert found.verdict is Verdict.BIT_EQUAL
    found = diagnose([paths["complete"], paths["incomplete"]])
    assert found.verdict is not Verdict.BIT_EQUAL
    assert found.compared.last_step == 2


def test_every_version_that_is_read_has_kept_runs() -> None:
    for version in range(OLDEST_READ, FORMAT_VERSION + 1):
        assert all(fixture(version, kind).exists() for kind in KINDS)
    assert sum(path.stat().st_size for path in FIXTURES.iterdir()) < 100_000


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (1, "recorded in format version 1, whose digests can miss a difference; record the run"),
        (FORMAT_VERSION + 1, f"and this release reads up to {FORMAT_VERSION}; upgrade bisect-"),
    ],
)
def test_another_version_is_refused_by_every_reader(
    tmp_path: Path, version: int, words: str
) -> None:
    path = unpacked(2, "complete", tmp_path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = version
    with pytest.raises(UnreadableRun, match=words):
        open_run(path)
    for arguments in (["info", str(path)], ["compare", str(path), str(path) + "x"]):
        done = subprocess.run(
            [sys.executable, "-m", "bisect_debugger.cli", *arguments],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert done.stderr.count("\n") == 1
        assert words in done.stderr
