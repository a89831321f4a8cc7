"""docs/format.md: its program reads real runs with h5py alone, and its tables are the schema's."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import probes
from bisect_debugger.format import schema
from bisect_debugger.format.digests import DIGEST_ALGORITHM
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import STORAGE_DTYPES
from bisect_debugger.runs import open_run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
PROGRAM = "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
SAMPLE = ROOT / "sample_runs" / "two_origins" / "a.h5"

# What a reader of the page would do next: look at values, with the page's own functions.
LOOK = """
import json, sys

assert not {"torch", "bisect_debugger", "probes"} & set(sys.modules)
found = []
for row, step in enumerate(steps["step"]):
    for event in events_of(row):
        elements = content(event)
        if elements is not None:
            if element_types[events["layout"][event]] == "bfloat16":
                elements = bfloat16_to_float32(elements)
            found.append((int(step), names[events["buffer"][event]], elements.tolist()))
ends = table("end")
print(json.dumps({
    "found": found, "verified": verified, "environment": environment,
    "end": texts(ends["state"]), "seeding": texts(table("seeding")["call"]),
}))
"""


def read_like_a_stranger(run: Path, folder: Path) -> dict[str, Any]:
    """Run the page's program in a process that knows h5py, numpy and xxhash."""
    assert "bisect_debugger" not in PROGRAM
    shutil.copy(run, folder / "run.h5")
    (folder / "read.py").write_text(PROGRAM + LOOK, encoding="utf-8")
    done = subprocess.run(
        # -I: this checkout is not on the path.
        [sys.executable, "-I", "read.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module", params=["auto", "device"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """A recorded trainer, and what its tensors held."""
    path = tmp_path_factory.mktemp("recorded") / "real.h5"
    torch.manual_seed(7)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    initial: Any = model.weight.tolist()
    with probes.attach(model, optimizer, out=path, level="full", digest=request.param) as recording:
        torch.manual_seed(8)
        recording.record("label", "größe")
        recording.record("brain", torch.tensor([0.5, -2.0], dtype=torch.bfloat16))
        for _ in range(2):
            loss: Any = model(torch.ones(4, 3)).square().mean()
            losses.append(loss.item())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return path, {"initial": initial, "final": model.weight.tolist(), "losses": losses}


def test_a_stranger_reads_what_was_trained(
    recorded: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    path, truth = recorded
    seen = read_like_a_stranger(path, tmp_path)
    weights = [values for _, name, values in seen["found"] if name == "model.weight"]
    assert weights[0] == truth["initial"]
    assert weights[-1] == truth["final"]
    losses = [(step, values) for step, name, values in seen["found"] if name == "loss"]
    assert losses == [(step, value) for step, value in enumerate(truth["losses"])]
    by_name = {name: values for _, name, values in seen["found"]}
    assert bytes(by_name["label"]).decode() == "größe"
    assert by_name["brain"] == [0.5, -2.0]
    assert seen["verified"] == len(seen["found"]) > 30
    assert seen["end"] == ["complete"]
    assert seen["seeding"] == ["torch.manual_seed"]
    assert seen["environment"]["torch"] == torch.__version__


def test_a_stranger_reads_the_shipped_sample(tmp_path: Path) -> None:
    seen = read_like_a_stranger(SAMPLE, tmp_path)
    with open_run(SAMPLE) as run:
        assert seen["environment"] == run.facts.environment
        assert {name for _, name, _ in seen["found"]} <= {buffer.name for buffer in run.buffers}
        assert seen["verified"] > 500


def test_every_column_is_described_with_its_type() -> None:
    described = dict(re.findall(r"^\| `([a-z_0-9/]+)` \| (`[^|]+) \|", PAGE, re.MULTILINE))
    for table, columns in schema.TABLES.items():
        for column in columns:
            across = f", {column.width} wide" if column.width else ""
            assert described.pop(column.path) == f"`{column.dtype}`{across}", table
    assert not [path for path in described if "/" in path]


def test_every_element_type_is_described_as_it_is_stored() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ((?:`[^`]+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    described: dict[str, str] = {}
    for names_cell, types_cell in rows:
        names, types = re.findall(r"`([^`]+)`", names_cell), re.findall(r"`([^`]+)`", types_cell)
        if set(names) <= set(STORAGE_DTYPES):
            described |= dict(zip(names, types * (len(names) // len(types)), strict=True))
    assert described == STORAGE_DTYPES


def test_every_flag_and_group_is_described() -> None:
    flags = re.findall(r"^\| (\d+) \| `([A-Z_]+)` \|", PAGE, re.MULTILINE)
    assert [(int(bit), name) for bit, name in flags] == [
        (flag.value, flag.name) for flag in schema.EventFlag if flag
    ]
    section = PAGE.split("## Groups and names")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [group.label for group in Group]


def test_the_names_in_the_header_are_the_ones_in_use() -> None:
    for text in (schema.FORMAT_NAME, DIGEST_ALGORITHM, f"Format version: {schema.FORMAT_VERSION}"):
        assert text in PAGE
