"""Trainers that nobody here wrote, unmodified, in real processes: clean twins and a natural fault.

Each script repeats itself bit by bit, and with ``--fault`` it does what people do by mistake. The
clean twins must be bit-equal, and the fault must be found where it is.
"""

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import cli

TRAINERS = Path(__file__).resolve().parent / "trainers"


@dataclass(frozen=True)
class Trainer:
    """A script, its fault, and what must be said of it.

    Attributes:
        script: name of the script.
        fault: value of ``--fault``.
        component: the first origin's component; text in braces stands for the line that holds it.
        group: the first origin's group.
        step: the first origin's step, or None where a coin decides.
        words: what the first origin tells, somewhere: a cause or a line of the script.
        ranks: number of processes.
    """

    script: str
    fault: str
    component: str
    group: str
    step: int | None = 0
    words: tuple[str, ...] = ()
    ranks: int = 1

    @property
    def command(self) -> list[str]:
        start = [sys.executable]
        if self.ranks > 1:
            start += ["-m", "torch.distributed.run", "--nproc-per-node", str(self.ranks)]
        return [*start, f"{self.script}.py"]

    @property
    def named(self) -> str:
        """The component with its line filled in."""
        found = re.search(r"\{(.+)\}", self.component)
        if found is None:
            return self.component
        lines = (TRAINERS / f"{self.script}.py").read_text(encoding="utf-8").splitlines()
        (number,) = [number for number, line in enumerate(lines, 1) if found[1] in line]
        return self.component.replace(found[0], f"{self.script}.py:{number}")


PLAIN = [
    Trainer("plain_default_rng", "unseeded", "rng.default_rng[{rng = }]", "rng", -1),
    Trainer("gan", "generator-seed", "rng.Generator.seed[{order.seed()}]", "rng", -1),
    Trainer("amp_accumulate", "time-seeded", "rng.default_rng[{self.rng = }]", "rng", -1),
    Trainer("nanogpt", "hash-order", "data", "data"),
    # What nobody wrote may happen to be equal in the first steps.
    Trainer("compiled", "empty-padding", "data", "data", None),
    Trainer("ddp_gloo", "shuffle", "loader", "data", ranks=2),
]
LIBRARIES = [
    Trainer("cleanrl_dqn", "env-reset", "env", "simulator"),
    Trainer("sb3_dqn", "sensor-noise", "rng.default_rng[{ rng = }]", "rng", None),
    Trainer("sb3_ppo", "late-seed", "rng.torch_cpu", "rng", -1, ("model.policy",)),
    Trainer("sb3_sac", "demo-reset", "env", "simulator"),
    Trainer("sb3_qrdqn", "replay-mirror", "replay_buffer", "replay", None),
    Trainer("hf_trainer", "document-order", "loader", "data"),
    Trainer("hf_accelerate", "fresh-head", "model.head", "param", -1, ("unseeded-init",)),
    Trainer("lightning_mlp", "column-set", "loader", "data"),
    Trainer("tianshou_per", "unseeded-numpy", "rng.numpy", "rng", -1, ("seed-not-applied",)),
]
ALL = [pytest.param(each, id=each.script) for each in (*PLAIN, *LIBRARIES)]

_LIKE_ANOTHER = ("plain_default_rng", "gan", "sb3_dqn", "sb3_sac", "sb3_qrdqn", "hf_trainer")
"""Trainers that share their library, or their loop, with one that is run every time."""

CLEAN = [
    pytest.param(each, id=each.script, marks=[pytest.mark.long] * (each.script in _LIKE_ANOTHER))
    for each in (*PLAIN, *LIBRARIES)
]


def environment() -> dict[str, str]:
    """One thread each: two tests at once on two cores would fight for them."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_DISABLE_JIT": "1"}


def twin(folder: Path, command: list[str], *options: str) -> tuple[int, dict[str, Any], str]:
    done = cli(
        *("twin", "--no-tui", "-o", folder, "--json", "-", *options, "--", *command),
        cwd=TRAINERS,
        env=environment(),
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(autouse=True)
def _compiler_of_torch(request: pytest.FixtureRequest) -> None:
    """torch.compile hands its own folder to the C++ compiler without quotes."""
    if "[compiled]" in request.node.name and " " in sys.prefix:
        pytest.skip("torch.compile does not work in an environment whose path has a space")


@pytest.mark.parametrize("trainer", CLEAN)
def test_twins_of_a_clean_trainer_are_bit_equal(trainer: Trainer, tmp_path: Path) -> None:
    code, diagnosis, _ = twin(tmp_path / "t", trainer.command)
    assert (code, diagnosis["verdict"]) == (0, "bit-equal"), diagnosis["sentence"]
    assert diagnosis["compared"]["last_step"] >= 20


@pytest.mark.parametrize("trainer", ALL)
def test_a_natural_fault_is_found_where_it_is(trainer: Trainer, tmp_path: Path) -> None:
    command = [*trainer.command, "--fault", trainer.fault]
    code, diagnosis, _ = twin(tmp_path / "t", command, "--no-values")
    assert (code, diagnosis["verdict"]) == (1, "diverged"), diagnosis["sentence"]
    origin = diagnosis["origins"][0]
    assert (origin["component"], origin["group"]) == (trainer.named, trainer.group)
    if trainer.step is not None:
        assert origin["step"] == trainer.step
    told = json.dumps(origin)
    assert all(words in told for words in trainer.words)


@pytest.mark.parametrize("trainer", CLEAN)
def test_the_probe_changes_nothing(trainer: Trainer) -> None:
    done = cli("check-probe", "--", *trainer.command, cwd=TRAINERS, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
