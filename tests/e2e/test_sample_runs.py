"""The sample trainers in real processes: the probes change no bit, the faults are where they say.

Faults race and draw entropy, so a faulty run has no reference to be compared with. What is
compared bit for bit is the repaired trainer (`--fixed`), which runs the same code but for the
two faults, and the clean one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.diagnosis import Verdict, diagnose
from bisect_debugger.diagnosis.model import Cause, Diagnosis
from bisect_debugger.format.groups import Group
from bisect_debugger.twins import Status, open_pair

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
"""Little trainers only wait for each other's threads where tests run side by side."""

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


def train(sample: str, *arguments: str) -> str:
    """Run a trainer; returns the digest of its final parameters."""
    done = subprocess.run(
        [sys.executable, str(SAMPLES / sample / "train.py"), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=ONE_THREAD,
    )
    assert done.stderr == ""
    word, digest = done.stdout.splitlines()[-1].split()
    assert word == "parameters"
    return digest


@pytest.mark.parametrize(("sample", "options"), [("two_origins", ["--fixed"]), ("clean", [])])
def test_probes_change_no_bit_and_twins_are_equal(
    sample: str, options: list[str], tmp_path: Path
) -> None:
    bare = train(sample, *options)
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    assert train(sample, *options, "--out", str(a)) == bare
    assert train(sample, *options, "--out", str(b)) == bare
    diagnosis = diagnose([a, b])
    assert diagnosis.verdict is Verdict.BIT_EQUAL, diagnosis.sentence
    assert not diagnosis.origins


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    assert train("clean", "--seed", "1") != train("clean", "--seed", "2")


def tells_the_story(diagnosis: Diagnosis) -> None:
    assert diagnosis.verdict is Verdict.DIVERGED
    head, sampler = diagnosis.origins
    assert (head.component, head.cause) == ("agent.outcome_head", Cause.UNSEEDED_INIT)
    assert (head.step, head.group, head.dormant) == (-1, Group.PARAM, True)
    assert head.first_gradient is not None
    assert (head.first_gradient.step, head.first_gradient.component) == (2, "agent.encoder")
    assert (sampler.component, sampler.cause) == (
        "agent.iqn_head.tau_sampler",
        Cause.FORWARD_KERNEL,
    )
    assert (sampler.step, sampler.group) == (0, Group.FORWARD)
    # The IQN head works on a detached hidden state: nothing outside it is reached by the race.
    assert all(part.startswith("agent.iqn_head") for part in sampler.contaminated)


def test_fresh_twins_tell_the_story(tmp_path: Path) -> None:
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    train("two_origins", "--out", str(a))
    train("two_origins", "--out", str(b))
    tells_the_story(diagnose([a, b]))


def test_the_shipped_twins_tell_the_story() -> None:
    folder = SAMPLES / "two_origins"
    tells_the_story(diagnose([folder / "a.h5", folder / "b.h5"]))
    assert diagnose([SAMPLES / "clean" / "a.h5", SAMPLES / "clean" / "b.h5"]).exit_code == 0


def test_the_shipped_table_is_that_of_the_investigation() -> None:
    """Replay equal; forward from step 0; the encoder's gradients from step 2."""
    with open_pair(SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5") as pair:
        by_step = dict(pair.cells(0, pair.step_count))
        for step in (0, 1, 2):
            assert by_step[step][Group.REPLAY] is Status.EQUAL
            assert by_step[step][Group.FORWARD] is Status.DIFFERS
            row = pair.row_of_step(step)
            assert row is not None
            encoder = {
                event.status
                for event in pair.rows(row)
                if event.component == "agent.encoder"
                and event.group in (Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD)
            }
            assert encoder == ({Status.EQUAL} if step < 2 else {Status.DIFFERS})


@pytest.mark.parametrize("sample", ["two_origins", "clean"])
def test_the_shipped_files_are_small_and_private(sample: str) -> None:
    with open_pair(SAMPLES / sample / "a.h5", SAMPLES / sample / "b.h5") as pair:
        for run in (pair.a, pair.b):
            assert run.path.stat().st_size < 300_000
            facts = run.facts
            assert (
                facts.environment["argv"] == f'["python", "train.py", "--out", "{run.path.name}"]'
            )
            texts = [*facts.environment.values(), *(buffer.location for buffer in run.buffers)]
            assert not [text for text in texts if text.startswith("/")]
    assert (SAMPLES / sample / "note.md").read_text().startswith("# Comparison of twins")


def test_the_demo_ends_by_itself_with_verdict_and_note(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bisect_debugger.cli", "demo", "--dir", str(tmp_path / "d e")]
    for number in (1, 2):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            env=ONE_THREAD,
        )
        assert "agent.outcome_head (unseeded-init" in done.stdout
        assert "agent.iqn_head.tau_sampler (forward-kernel" in done.stdout
        note = tmp_path / "d e" / f"{number}" / "note.md"
        assert done.stdout.endswith(f"Note: {note}\n")
        assert "## Groups by step" in note.read_text()
