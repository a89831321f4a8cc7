"""Digests by the algorithm for devices, forced on this host: recorded, proven, compared apart."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import probes
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Verdict
from bisect_debugger.errors import NotComparable, UsageError
from bisect_debugger.format.digests import DEVICE_EVERYWHERE
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import open_run
from bisect_debugger.runs.operators import read_operators
from tests.safety.processes import ROOT, environment, recorder
from tests.verification import verify


def trained(
    path: Path, digest: str | None, level: str = "digest", seed: int = 0, zoom: bool = False
) -> Path:
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32))
    optimizer = torch.optim.Adam(model.parameters())
    with probes.attach(model, optimizer, out=path, level=level, digest=digest, zoom=zoom):
        for _ in range(3):
            model(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return path


@pytest.mark.parametrize("level", ["coarse", "digest", "full"])
def test_equal_runs_are_equal_and_others_differ(tmp_path: Path, level: str) -> None:
    a, b = (trained(tmp_path / f"{name}.h5", "device", level) for name in "ab")
    other = trained(tmp_path / "c.h5", "device", level, seed=1)
    assert diagnose([a, b]).verdict is Verdict.BIT_EQUAL
    assert diagnose([a, other]).verdict is Verdict.DIVERGED
    with open_run(a) as run:
        assert run.facts.algorithms == {DEVICE_EVERYWHERE}
        if level == "coarse":
            return
        assert (verify(run) > 0) == (level == "full")
        flags = {
            run.buffers[int(buffer)].group.label: EventFlag(int(flag)) & EventFlag.ON_DEVICE
            for row in range(run.step_count)
            for buffer, flag in zip(run.events(row).buffer, run.events(row).flags, strict=True)
        }
    assert flags["param"]
    assert flags["forward"]
    # The state of a generator is bytes, and no tensor.
    assert not flags["rng"]


def test_both_algorithms_tell_the_same_story(tmp_path: Path) -> None:
    found = {}
    for digest in ("auto", "device"):
        pair = [trained(tmp_path / f"{digest}{seed}.h5", digest, seed=seed) for seed in (0, 1)]
        diagnosis = diagnose(pair)
        found[digest] = [(origin.step, origin.buffer, origin.cause) for origin in diagnosis.origins]
    assert found["auto"] == found["device"] != []


def test_two_algorithms_are_refused(tmp_path: Path) -> None:
    host, device = trained(tmp_path / "a.h5", "auto"), trained(tmp_path / "b.h5", "device")
    with pytest.raises(
        NotComparable, match=r"\(for tensors on a device: multilin.* against none\)"
    ):
        diagnose([device, host])


@pytest.mark.parametrize("digest", ["auto", "device"])
@pytest.mark.parametrize("said", ["argument", "environment"])
def test_operators_are_hashed_as_the_events_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: str, said: str
) -> None:
    monkeypatch.setenv("BISECT_DEBUGGER_DIGEST", digest if said == "environment" else "")
    path = trained(tmp_path / "a.h5", digest if said == "argument" else None, zoom=True)
    streams = read_operators(path)
    returned = {
        tensor.digest
        for stream in streams.values()
        for operator in stream.operators
        for tensor in operator.returned
    }
    with open_run(path) as run:
        outputs = {
            f"{int(high):016x}{int(low):016x}"
            for row in range(run.step_count)
            for buffer, (high, low) in zip(
                run.events(row).buffer, run.events(row).digest, strict=True
            )
            if run.buffers[int(buffer)].role == "out"
        }
    assert len(outputs) > 3
    assert outputs <= returned


def test_an_algorithm_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no digest 'md5'; use one of auto, device"):
        trained(tmp_path / "a.h5", "md5")
    monkeypatch.setenv("BISECT_DEBUGGER_DIGEST", "md5")
    with pytest.raises(UsageError, match="in BISECT_DEBUGGER_DIGEST"):
        trained(tmp_path / "a.h5", None)


def test_recorded_from_outside(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import torch\ntorch.manual_seed(0)\nmodel = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    model(torch.ones(1, 2)).sum().backward(); optimizer.step()\n"
    )
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path in paths:
        subprocess.run(
            [*recorder("-o", str(path), "--level", "full"), sys.executable, str(program)],
            cwd=ROOT,
            env=environment(BISECT_DEBUGGER_DIGEST="device"),
            check=True,
            capture_output=True,
        )
    assert diagnose(paths).verdict is Verdict.BIT_EQUAL
    with open_run(paths[0]) as run:
        assert run.facts.algorithms == {DEVICE_EVERYWHERE}
        assert verify(run) > 10
