"""The second pass names the operator and the program's line at which a difference begins."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import cli
from tests.e2e.trained import TRAINERS, line_of

NOISY = (sys.executable, str(TRAINERS / "noisy.py"))


@cache
def diagnosis_of(folder: Path, *options: str) -> tuple[dict[str, Any], str, str]:
    """Diagnosis, report and note of `twin` on the trainer."""
    done = cli(
        *("twin", "--no-tui", "--stop-after", "1", "-o", folder / "t", "--json", folder / "d.json"),
        *("--", *NOISY, *options),
    )
    assert done.returncode == 1, done.stderr
    note = (folder / "t/note.md").read_text(encoding="utf-8")
    return json.loads((folder / "d.json").read_text()), done.stdout, note


def where(origin: dict[str, Any]) -> tuple[str, str, str]:
    """What was found, the operator, and the line's place in the trainer."""
    return origin["zoom"]["found"], origin["zoom"]["operator"], Path(origin["location"]).name


def test_a_forward_fault_is_found_at_its_line_in_a_later_step(tmp_path: Path) -> None:
    found, report, note = diagnosis_of(tmp_path, "--fault", "forward", "--from-step", "2")
    (origin,) = found["origins"]
    assert (origin["component"], origin["step"]) == ("net.mixer", 2)
    line = line_of("return torch.from_numpy((raw", "noisy.py")
    assert where(origin) == ("entered", "aten::lift_fresh", line)
    assert origin["operator"] is None  # nothing that torch computed is at fault
    excerpt = origin["zoom"]["excerpt"]
    assert "np.frombuffer(os.urandom" in excerpt["lines"][2]
    assert excerpt["first"] + 3 == int(line.rpartition(":")[2])
    for shown in (report, note):
        assert line in shown
        assert f"> {line.rpartition(':')[2]}  " in shown


def test_a_backward_fault_is_found_in_the_backward_with_the_line_of_its_forward(
    tmp_path: Path,
) -> None:
    found, _, _ = diagnosis_of(tmp_path, "--fault", "backward")
    origin = found["origins"][0]
    assert origin["group"] in ("grad_out", "grad_scratch")
    line = line_of("return torch.from_numpy((raw", "noisy.py")
    assert where(origin) == ("entered", "aten::lift_fresh", line)
    assert origin["zoom"]["node"] == "RoundedBackward"
    made = line_of('return x + dither(x) if where == "forward"', "noisy.py")
    assert f"made at {origin['location'].rpartition('/')[0]}/{made}" in origin["evidence"][0]


def test_targets_made_in_the_loop_are_found_between_modules(tmp_path: Path) -> None:
    found, _, _ = diagnosis_of(tmp_path, "--fault", "targets")
    origin = found["origins"][0]
    line = line_of("y = torch.from_numpy(labels", "noisy.py")
    assert where(origin) == ("entered", "aten::lift_fresh", line)
    assert origin["zoom"]["module"] == ""


def test_a_draw_from_another_generator_is_named_as_a_draw(tmp_path: Path) -> None:
    found, report, _ = diagnosis_of(tmp_path, "--fault", "draw")
    origin = found["origins"][0]
    line = line_of("bernoulli_", "noisy.py")
    assert where(origin) == ("draw", "aten::bernoulli_", line)
    assert origin["operator"] == "aten::bernoulli_"
    assert "draws from a generator whose state differs" in origin["evidence"][0]
    assert f"operator: aten::bernoulli_ at {origin['location']}" in report


@pytest.mark.parametrize("options", [(), ("--fault", "backward")])
def test_operators_lie_beside_the_runs_of_the_second_pass_only(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = cli(
        *("twin", "--no-tui", "--max-steps", "1", "-o", tmp_path / "t", "--", *NOISY, *options)
    )
    beside = sorted(path.name for path in (tmp_path / "t").glob("*.jsonl"))
    expected = ["a.values.operators.jsonl", "b.values.operators.jsonl"] if options else []
    assert (done.returncode, beside) == (len(options) // 2, expected)
