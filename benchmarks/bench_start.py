"""What the bootstrap costs a process that never imports torch: its start against a bare one's.

Called as ``python benchmarks/bench_start.py [--pairs N]``.

Processes with and without the bootstrap start in turns, and each pair gives a ratio. Two programs:
one that does nothing, so that the bootstrap has nothing to hide behind, and one that imports what
most command line tools do.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.processes import compiled_once
from benchmarks.ratios import HEAD, Measured, show
from bisect_debugger.driver.session import Settings, session

REQUIRED = 1.05
PROGRAMS = {
    "nothing": "pass",
    "a small tool": "import argparse, json, pathlib, subprocess",
}


def seconds_of_start(program: str, environment: dict[str, str]) -> float:
    """Seconds from start to end of an interpreter."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure both programs."""
    parser = argparse.ArgumentParser(description="What the bootstrap costs.")
    parser.add_argument("--pairs", type=int, default=200)
    options = parser.parse_args()
    print("start to end of a process under the bootstrap / bare")
    print(HEAD)
    with (
        tempfile.TemporaryDirectory() as folder,
        session(Settings(out=Path(folder) / "run.h5")) as under,
    ):
        bare, probed = compiled_once(), under.environment()
        probed.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, program in PROGRAMS.items():
            # The first starts of all fill the caches of the system.
            seconds_of_start(program, bare), seconds_of_start(program, probed)
            pairs = [
                (seconds_of_start(program, bare), seconds_of_start(program, probed))
                for _ in range(options.pairs)
            ]
            ratios = [with_it / without for without, with_it in pairs]
            fastest = 1000 * min(without for without, _ in pairs)
            show(Measured(name, ratios, REQUIRED, f"{fastest:.1f} ms bare at best"))


if __name__ == "__main__":
    main()
