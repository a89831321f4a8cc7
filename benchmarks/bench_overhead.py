"""What probes cost: a step with them against a step without, on three workloads.

Called as ``python benchmarks/bench_overhead.py [--rounds N] [--mode M] [WORKLOAD ...]``.

Stretches with and without probes take turns in one process, so that whatever else the machine does
meets both. A round's ratio holds the median step of a stretch with probes against those of the
stretches without just before and after it.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import probes
from benchmarks.ratios import HEAD, Measured, seconds_of, show
from benchmarks.workloads import WORKLOADS

REQUIRED = {
    "digest": (1.30, 1.10, 1.10),
    "coarse": (1.25, 1.08, 1.08),
    "full": (2.8, 1.7, 1.6),
    "outside the window": (1.03, 1.03, 1.03),
}
"""Mode -> the largest ratio that is good enough, per workload in their order."""

ARGUMENTS: dict[str, dict[str, Any]] = {
    "digest": {"level": "digest"},
    "coarse": {"level": "coarse"},
    "full": {"level": "full"},
    "outside the window": {"steps": "1000000000:"},
}

WARM_STEPS = 2
"""Steps that meet every buffer for the first time, and are not measured."""


def ratio_of(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    step: Callable[[], None],
    steps: int,
    arguments: dict[str, Any],
) -> tuple[float, float]:
    """Ratio of one round, and the seconds of a step without probes."""
    before = seconds_of(step, steps)
    with (
        tempfile.TemporaryDirectory() as folder,
        probes.attach(model, optimizer, out=Path(folder) / "run.h5", **arguments),
    ):
        seconds_of(step, WARM_STEPS)
        probed = seconds_of(step, steps)
    after = seconds_of(step, steps)
    bare = (before + after) / 2
    return probed / bare, bare


def measure(name: str, place: int, modes: list[str], rounds: int | None) -> list[Measured]:
    """All modes of one workload, in turns."""
    torch.manual_seed(0)
    build, steps, usual_rounds = WORKLOADS[name]
    model, optimizer, step = build()
    seconds_of(step, WARM_STEPS)
    ratios: dict[str, list[float]] = {mode: [] for mode in modes}
    bare = 0.0
    for _ in range(rounds or usual_rounds):
        for mode in modes:
            ratio, bare = ratio_of(model, optimizer, step, steps, ARGUMENTS[mode])
            ratios[mode].append(ratio)
    return [
        Measured(
            f"{name}, {mode}", ratios[mode], REQUIRED[mode][place], f"{1000 * bare:.1f} ms bare"
        )
        for mode in modes
    ]


def main() -> None:
    """Measure the workloads that were named, all by default."""
    parser = argparse.ArgumentParser(description="What probes cost.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", default=list(WORKLOADS))
    parser.add_argument("--mode", choices=list(REQUIRED), action="append")
    parser.add_argument("--rounds", type=int, help="by default as many as the workload takes")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    torch.set_num_threads(options.threads)
    print(
        f"step time with probes / without, {options.threads} thread(s), torch {torch.__version__}"
    )
    print(HEAD)
    for name in options.workloads:
        modes = options.mode or list(REQUIRED)
        for measured in measure(name, list(WORKLOADS).index(name), modes, options.rounds):
            show(measured)


if __name__ == "__main__":
    main()
