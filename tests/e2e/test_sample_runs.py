"""The sample trainers in real processes: the probes change no bit, the faults are where they say.

Faults race and draw entropy, so a faulty run has no reference to be compared with. What is
compared bit for bit is the clean trainer, the repaired one (`--fixed`), and the faulty one with its
two sources of chance pinned from outside: one worker thread, and one number for all entropy.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.diagnosis import Verdict, diagnose, diagnose_pair
from bisect_debugger.diagnosis.model import Cause, Diagnosis
from bisect_debugger.format.groups import Group
from bisect_debugger.note import render_note
from bisect_debugger.twins import Status, open_pair

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
"""Little trainers only wait for each other's threads where tests run side by side."""

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"


PINNED = """
import concurrent.futures, runpy, sys
import numpy as np

real_pool, real_rng = concurrent.futures.ThreadPoolExecutor, np.random.default_rng
concurrent.futures.ThreadPoolExecutor = lambda max_workers: real_pool(1)
np.random.default_rng = lambda seed: real_rng(12345 if seed is None else seed)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a trainer with nothing left to chance, its faulty code as it is."""

RACE = """
import json, os, runpy, sys

trainer, repeats, one_core = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
if one_core:
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
trainer = runpy.run_path(trainer)

def call(fixed):
    sampler = trainer["TauSampler"](42, fixed)
    taus = sampler(trainer["BATCH"]).tolist()
    sampler.pool.shutdown()
    return {"taus": taus, "state": int(sampler.state)}

print(json.dumps({
    "racing": [call(False) for _ in range(repeats)], "repaired": [call(True) for _ in range(5)],
}))
"""
"""Calls a fresh tau sampler again and again, from one and the same state."""


def output_of(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=True, env=ONE_THREAD
    )
    assert done.stderr == ""
    return done.stdout


@functools.cache
def bare(sample: str, *options: str) -> str:
    """The digest of the final parameters without probes."""
    return train(sample, *options)


def train(sample: str, *arguments: str, before: tuple[str, ...] = ()) -> str:
    """Run a trainer; returns the digest of its final parameters."""
    output = output_of(*before, str(SAMPLES / sample / "train.py"), *arguments)
    word, digest = output.splitlines()[-1].split()
    assert word == "parameters"
    return digest


@pytest.mark.parametrize(("sample", "options"), [("two_origins", ["--fixed"]), ("clean", [])])
def test_probes_change_no_bit_and_twins_are_equal(
    sample: str, options: list[str], tmp_path: Path
) -> None:
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    assert train(sample, *options, "--out", str(a)) == bare(sample, *options)
    assert train(sample, *options, "--out", str(b)) == bare(sample, *options)
    diagnosis = diagnose([a, b])
    assert diagnosis.verdict is Verdict.BIT_EQUAL, diagnosis.sentence
    assert not diagnosis.origins


def test_probes_change_no_bit_of_the_faulty_code(tmp_path: Path) -> None:
    pinned = ("-c", PINNED)
    digest = train("two_origins", before=pinned)
    assert train("two_origins", "--out", str(tmp_path / "a.h5"), before=pinned) == digest
    assert bare("two_origins", "--fixed") != digest


@pytest.mark.parametrize(
    ("repeats", "one_core"),
    [(60, False), pytest.param(300, True, marks=pytest.mark.long)],
)
def test_the_race_shows_in_the_first_call(repeats: int, one_core: bool) -> None:
    """Another result each time; the state, and block 0 that moves it on, are always the same."""
    trainer = str(SAMPLES / "two_origins" / "train.py")
    calls = json.loads(output_of("-c", RACE, trainer, str(repeats), str(one_core)))
    repaired = calls["repaired"][0]
    assert calls["repaired"] == [repaired] * 5
    results = [json.dumps(call["taus"]) for call in calls["racing"]]
    equal_pairs = sum(left == right for i, left in enumerate(results) for right in results[:i])
    assert equal_pairs <= repeats * (repeats - 1) / 2 / 1000
    for call in calls["racing"]:
        assert call["state"] == repaired["state"]
        assert call["taus"][0] == repaired["taus"][0]


def test_another_seed_is_another_run() -> None:
    assert train("clean", "--seed", "1") != bare("clean")


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


def is_the_table_of_the_investigation(a: Path, b: Path) -> None:
    """Replay and labels equal; forward from step 0; the encoder's gradients from step 2."""
    with open_pair(a, b) as pair:
        by_step = dict(pair.cells(0, pair.step_count))
        for step in (0, 1, 2):
            assert by_step[step][Group.REPLAY] is Status.EQUAL
            assert by_step[step][Group.USER] is Status.EQUAL
            assert by_step[step][Group.FORWARD] is Status.DIFFERS
            row = pair.row_of_step(step)
            assert row is not None
            events = pair.rows(row)
            encoder = {
                event.status
                for event in events
                if event.component == "agent.encoder"
                and event.group in (Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD)
            }
            assert encoder == ({Status.EQUAL} if step < 2 else {Status.DIFFERS})
            (labels,) = (pair.values(event)[0] for event in events if event.group is Group.USER)
            assert labels is not None
            assert (labels >= 0).any() == (step == 2)
        (state,) = (
            event.status
            for event in pair.rows(pair.step_count - 1)
            if event.name == "agent.iqn_head.tau_sampler.state"
        )
        assert state is Status.EQUAL


def test_fresh_twins_tell_the_story(tmp_path: Path) -> None:
    a, b = tmp_path / "a.h5", tmp_path / "b.h5"
    train("two_origins", "--out", str(a))
    train("two_origins", "--out", str(b))
    tells_the_story(diagnose([a, b]))
    is_the_table_of_the_investigation(a, b)


def test_the_shipped_twins_tell_the_story() -> None:
    a, b = SAMPLES / "two_origins" / "a.h5", SAMPLES / "two_origins" / "b.h5"
    tells_the_story(diagnose([a, b]))
    is_the_table_of_the_investigation(a, b)
    assert diagnose([SAMPLES / "clean" / "a.h5", SAMPLES / "clean" / "b.h5"]).exit_code == 0


@pytest.mark.parametrize("sample", ["two_origins", "clean"])
def test_the_shipped_files_are_small_and_private(sample: str) -> None:
    with open_pair(SAMPLES / sample / "a.h5", SAMPLES / sample / "b.h5") as pair:
        for run in (pair.a, pair.b):
            assert run.path.stat().st_size < 1_000_000
            facts = run.facts
            assert (
                facts.environment["argv"] == f'["python", "train.py", "--out", "{run.path.name}"]'
            )
            texts = [*facts.environment.values(), *(buffer.location for buffer in run.buffers)]
            assert not [text for text in texts if text.startswith("/")]


@pytest.mark.parametrize("sample", ["two_origins", "clean"])
def test_the_shipped_notes_are_what_the_shipped_runs_lead_to(
    sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The runs are named as they are when one stands in their folder.
    monkeypatch.chdir(SAMPLES / sample)
    with open_pair("a.h5", "b.h5") as pair:
        note = render_note(diagnose_pair(pair), pair)
    hint = "write it again with: python -m sample_runs.regenerate --notes"
    assert Path("note.md").read_text(encoding="utf-8") == note, hint
