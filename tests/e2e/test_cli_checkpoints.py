"""compare on checkpoints: by named tensor, in text and JSON, without torch where it can."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command_line import cli
from tests.runs import plain_steps, write_run


def save(path: Path, **changed: float) -> Path:
    """Two tensors; ``changed`` adds to the first element of one."""
    tensors = {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "bias": np.ones(2, dtype=np.float32),
    }
    for name, by in changed.items():
        tensors[name].reshape(-1)[0] += np.float32(by)
    with path.open("wb") as stream:
        np.savez(stream, **tensors)  # type: ignore[arg-type]
    return path


@pytest.fixture
def trio(tmp_path: Path) -> list[Path]:
    """Two equal checkpoints and one whose weight differs by 1e-3."""
    return [
        save(tmp_path / "a.npz"),
        save(tmp_path / "b.npz"),
        save(tmp_path / "c.npz", weight=1e-3),
    ]


def test_equal_checkpoints_exit_0(trio: list[Path]) -> None:
    done = cli("compare", *trio[:2])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        f"Bit-equal.\nA: {trio[0]}\nB: {trio[1]}\nAll 2 tensors are bit-equal.\n"
    )


def test_the_tensor_that_differs_is_named(trio: list[Path]) -> None:
    done = cli("compare", trio[0], trio[2])
    assert done.returncode == 1
    assert done.stdout.startswith("Diverged.\n")
    assert "  weight: 1 / 6 elements (16.7 %), relFro 0.000135, " in done.stdout
    assert "bias" not in done.stdout


def test_a_tolerance_is_a_verdict_of_its_own(trio: list[Path]) -> None:
    done = cli("compare", trio[0], trio[2], "--tolerance", "1e-2")
    assert done.returncode == 0
    assert done.stdout.startswith("Within tolerance.\n")
    assert cli("compare", trio[0], trio[2], "--tolerance", "1e-6").returncode == 1


def test_all_pairs_as_json(trio: list[Path]) -> None:
    done = cli("compare", *trio, "--json", "-")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert list(found) == ["checkpoint_comparison_version", "verdict", "comparisons"]
    assert (found["checkpoint_comparison_version"], found["verdict"]) == (1, "diverged")
    verdicts = [(pair["a"], pair["b"], pair["verdict"]) for pair in found["comparisons"]]
    a, b, c = map(str, trio)
    assert verdicts == [(a, b, "bit-equal"), (a, c, "diverged"), (b, c, "diverged")]
    last = found["comparisons"][2]
    assert last["overall"]["differing_tensors"] == 1
    (tensor,) = last["tensors"]
    assert (tensor["name"], tensor["status"]) == ("weight", "differs")
    assert (tensor["layout_a"], tensor["metrics"]["differing"]) == ("float32[2,3]", 1)
    assert done.stderr.count("\nB: ") == 3


def test_a_nan_is_no_json_number(tmp_path: Path, trio: list[Path]) -> None:
    broken = save(tmp_path / "d.npz", weight=float("nan"))
    done = cli("compare", trio[0], broken, "--json", "-", "--tolerance", "1e9")
    assert done.returncode == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    (pair,) = json.loads(done.stdout, parse_constant=refuse)["comparisons"]
    assert pair["tensors"][0]["metrics"]["nan_b"] == 1


def test_runs_and_checkpoints_are_not_compared(trio: list[Path], tmp_path: Path) -> None:
    run = write_run(tmp_path / "a.h5", plain_steps())
    done = cli("compare", run, trio[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("compare runs with runs and checkpoints with checkpoints.\n")


def test_a_note_is_for_runs(trio: list[Path]) -> None:
    done = cli("compare", *trio[:2], "--note", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no archive", b"\x80\x02}q\x00."])
def test_a_damaged_checkpoint_is_one_sentence(
    content: bytes, trio: list[Path], tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.pt"
    damaged.write_bytes(content)
    done = cli("compare", trio[0], damaged)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"bisect-debugger: {damaged}: ")
    assert done.stderr.count("\n") == 1
