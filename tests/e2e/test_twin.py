"""`twin -- CMD`: runs after each other, compared live, and a second pass for values."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bisect_debugger
from bisect_debugger.runs import open_run
from bisect_debugger.twins import open_pair
from tests.e2e.command_line import COMMAND, cli
from tests.e2e.trained import SUPERVISED, line_of, steps_of


def twin(folder: Path, *arguments: object) -> tuple[int, dict[str, Any], str]:
    """Exit code, diagnosis and narration of `twin` with its runs in a folder."""
    done = cli("twin", "--no-tui", "-o", folder, "--json", "-", *arguments)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_a_seeded_trainer_is_one_run(tmp_path: Path) -> None:
    code, diagnosis, narration = twin(tmp_path / "t", "--", *SUPERVISED)
    assert (code, diagnosis["verdict"]) == (0, "bit-equal")
    assert diagnosis["compared"]["last_step"] == 7
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == ["a.h5", "b.h5", "note.md"]
    assert "prove the cause" not in narration
    assert narration.count("step 7: ") == 2  # the trainer's own output comes through


def test_unseeded_batches_are_the_onset_at_step_0_with_the_call_that_drew_them(
    tmp_path: Path,
) -> None:
    code, diagnosis, _ = twin(tmp_path / "t", "--", *SUPERVISED, "--batches", "unseeded")
    assert (code, diagnosis["verdict"]) == (1, "diverged")
    assert (diagnosis["onset"]["step"], diagnosis["onset"]["group"]) == (0, "data")
    (origin,) = diagnosis["origins"]
    assert origin["cause"] in ("seed-not-applied", "rng-stream")
    told = json.dumps(origin)
    assert "numpy.random.default_rng" in told
    assert line_of("rng = np.random.default_rng(options") in told


def test_an_unseeded_head_is_caught_at_init_with_its_line(tmp_path: Path) -> None:
    code, diagnosis, told = twin(tmp_path / "t", "--", *SUPERVISED, "--head", "unseeded")
    assert code == 1
    (proving,) = (line for line in told.splitlines() if "prove the cause with: " in line)
    assert " twin --explain -- " in proving
    assert proving.endswith(" --head unseeded")
    (origin,) = diagnosis["origins"]
    assert (origin["component"], origin["step"]) == ("agent.network.head", -1)
    assert origin["cause"] == "unseeded-init"
    assert origin["source"].endswith(line_of("agent.network.head = torch"))


def test_the_second_run_stops_after_the_onset_and_a_second_pass_has_values(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "t"
    code, diagnosis, _ = twin(
        folder, "--stop-after", "1", "--", *SUPERVISED, "--late", "20", "--steps", "40"
    )
    assert (code, diagnosis["onset"]["step"]) == (1, 20)
    assert steps_of(folder / "a.h5")[-1] == 39
    assert steps_of(folder / "b.h5")[-1] == 21
    for name in ("a.values.h5", "b.values.h5"):
        assert steps_of(folder / name)[-1] == 21
        with open_run(folder / name) as run:
            block = run.events(run.step_count - 2)  # step 20
            values = [
                run.payload(digest, run.layouts[layout])
                for digest, layout in zip(block.digest, block.layout, strict=True)
            ]
            early = run.events(2)
            none = [
                run.payload(digest, run.layouts[layout])
                for digest, layout in zip(early.digest, early.layout, strict=True)
            ]
        assert any(value is not None for value in values)
        assert sum(value is not None for value in none) < len(none) / 2
    with open_pair(folder / "a.values.h5", folder / "b.values.h5") as pair:
        onset = diagnosis["onset"]
        rows = pair.rows(pair.row_of_step(onset["step"]) or 0)
        difference = pair.difference(next(row for row in rows if row.name == onset["buffer"]))
    assert difference is not None
    assert difference.elements == 32 * 8


def test_every_run_is_bounded(tmp_path: Path) -> None:
    code, diagnosis, _ = twin(
        tmp_path / "t", "--max-steps", "3", "--", *SUPERVISED, "--steps", "100000"
    )
    assert (code, diagnosis["compared"]["last_step"]) == (0, 2)


def test_another_seed_is_the_control(tmp_path: Path) -> None:
    command = shlex.join(SUPERVISED)
    code, diagnosis, _ = twin(tmp_path / "t", "--control", f"{command} --seed 2", "--", *SUPERVISED)
    assert (code, diagnosis["control"]) == (0, {"seed_changes_the_run": True})


def test_a_control_that_changes_nothing_is_said(tmp_path: Path) -> None:
    command = shlex.join(SUPERVISED)
    code, diagnosis, _ = twin(tmp_path / "t", "--control", command, "--", *SUPERVISED)
    assert (code, diagnosis["control"]) == (1, {"seed_changes_the_run": False})
    assert "another seed changes nothing" in diagnosis["remarks"][0]


def test_all_pairs_of_several_runs_get_a_verdict(tmp_path: Path) -> None:
    code, diagnosis, _ = twin(
        tmp_path / "t", "--runs", "3", "--no-values", "--", *SUPERVISED, "--batches", "unseeded"
    )
    assert code == 1
    pairs = {(Path(pair["a"]).name, Path(pair["b"]).name) for pair in diagnosis["pairs"]}
    assert pairs == {("a.h5", "b.h5"), ("a.h5", "c.h5"), ("b.h5", "c.h5")}
    assert {pair["verdict"] for pair in diagnosis["pairs"]} == {"diverged"}


@pytest.mark.parametrize(("how", "words"), [("error", "loss is nan"), ("system-exit", "code 3")])
def test_a_trainer_that_fails_is_shown_with_its_last_lines(
    tmp_path: Path, how: str, words: str
) -> None:
    code, diagnosis, narration = twin(tmp_path / "t", "--", *SUPERVISED, "--end", how)
    assert (code, diagnosis) == (4, {})
    sentence = narration[narration.index("The trainer ended") :]
    assert words in sentence
    assert "step 7: " in sentence
    assert (tmp_path / "t/a.h5").exists()


def test_nothing_recorded_leaves_no_folder(tmp_path: Path) -> None:
    done = cli("twin", "--", sys.executable, "-c", "print('hello')", cwd=tmp_path)
    assert done.returncode == 2
    assert not list(tmp_path.glob(".bisect-debugger/twins/*"))


def test_two_twins_in_one_directory_do_not_meet(tmp_path: Path) -> None:
    command = [*COMMAND, "twin", "--no-tui", "--", *SUPERVISED]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        process.communicate(timeout=250)
    assert [process.returncode for process in both] == [0, 0]
    folders = sorted((tmp_path / ".bisect-debugger/twins").iterdir())
    assert [sorted(path.name for path in folder.iterdir()) for folder in folders] == [
        ["a.h5", "b.h5", "note.md"]
    ] * 2


def test_the_python_call_returns_the_diagnosis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    diagnosis = bisect_debugger.twin([*SUPERVISED, "--batches", "unseeded"], max_steps=2)
    assert diagnosis.verdict == "diverged"
    assert diagnosis.onset is not None
    assert diagnosis.onset.step == 0


def test_the_cause_is_proven_by_changing_one_condition(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    code, diagnosis, narration = twin(
        folder, "--explain", "--no-values", "--", *SUPERVISED, "--batches", "unseeded"
    )
    assert code == 1
    (origin,) = diagnosis["origins"]
    assert origin["proven"]
    assert "with entropy (" in origin["evidence"][0]
    knobs = [experiment["knobs"] for experiment in diagnosis["experiments"]]
    assert knobs[0] == []
    assert ["entropy"] in knobs
    assert "experiment with entropy: 5 of 5 pairs equal" in narration
    assert "## Experiments" in (folder / "note.md").read_text(encoding="utf-8")
    assert not (folder / "experiments").exists()
