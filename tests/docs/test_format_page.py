"""docs/format.md: its program reads a real run with h5py alone, and its tables are the schema's."""

import re
import subprocess
import sys
from pathlib import Path

from bisect_debugger.format import schema
from bisect_debugger.runs import open_run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "sample_runs" / "two_origins" / "a.h5"


def test_a_stranger_reads_a_run_with_the_pages_program(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "bisect_debugger" not in program
    (tmp_path / "read.py").write_text(program)
    done = subprocess.run(
        # -I: neither this repository nor the installed package's folder is on the path first.
        [sys.executable, "-I", "read.py", str(SAMPLE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    *losses, verified = done.stdout.splitlines()
    with open_run(SAMPLE) as run:
        expected = []
        for row in range(run.step_count):
            events = run.events(row)
            for place, buffer in enumerate(events.buffer):
                if run.buffers[buffer].name == "loss":
                    layout = run.layouts[events.layout[place]]
                    value = run.payload(events.digest[place], layout)
                    assert value is not None
                    expected.append(f"step {run.step_number(row)} loss {float(value)}")
    assert losses == expected
    assert len(losses) == 4
    assert int(verified.rpartition(" ")[2]) > 500


def test_every_column_of_the_schema_is_described() -> None:
    for table, columns in schema.TABLES.items():
        line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{table}` |"))
        for column in columns:
            assert f"`{column.path.rpartition('/')[2]}`" in line, column.path


def test_every_flag_is_described() -> None:
    line = next(line for line in PAGE.splitlines() if line.startswith("Flags: "))
    numbers = [int(number) for number in re.findall(r"\d+", line)]
    assert numbers == [flag.value for flag in schema.EventFlag if flag]
