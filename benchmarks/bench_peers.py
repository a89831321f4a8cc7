"""What other ways of recording a step cost, beside ours, on the same workloads.

Called as ``python benchmarks/bench_peers.py [--rounds N] [--threads N] [WORKLOAD ...]``.

Stretches with and without a recorder take turns in one process; printed is how many times as long
a step takes, at the medians. The recorders do not keep the same: ours, and the `torch.save` of
everything, see module outputs, gradients, parameters and optimizer state; DebugMode sees what every
operator returns; msprobe what every module returns and is given back in backward. A peer that
cannot be imported is named and left out.
"""

import argparse
import contextlib
import importlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import probes
from benchmarks.workloads import WORKLOADS

Step = Callable[[], None]
Recorder = Callable[[nn.Module, torch.optim.Optimizer, Step, Path], AbstractContextManager[Step]]
"""Takes model, optimizer, step and a folder; gives a step that is recorded."""

_STRETCH_SECONDS = 0.4
"""A stretch takes about so long without a recorder."""


@contextmanager
def ours(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Step, folder: Path, level: str
) -> Iterator[Step]:
    """The probes at a level, every group on."""
    with probes.attach(model, optimizer, out=folder / "run.h5", level=level):
        yield step


@contextmanager
def debug_mode(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Step, folder: Path
) -> Iterator[Step]:
    """PyTorch's DebugMode, with a hash of what every operator returns."""
    from torch.utils._debug_mode import DebugMode

    def recorded() -> None:
        with DebugMode() as mode, DebugMode.log_tensor_hashes("hash_tensor"):
            step()
        (folder / "log.txt").write_text(mode.debug_string(), encoding="utf-8")

    yield recorded


@contextmanager
def save_all(
    model: nn.Module, optimizer: torch.optim.Optimizer, step: Step, folder: Path
) -> Iterator[Step]:
    """One `torch.save` a step of outputs, gradients, parameters and optimizer state."""
    seen: list[torch.Tensor] = []

    def keep(module: nn.Module, given: Any, returned: Any) -> None:
        if isinstance(returned, torch.Tensor):
            seen.append(returned.detach().clone())

    def recorded() -> None:
        step()
        parameters = list(model.parameters())
        everything = {
            "outputs": seen,
            "gradients": [p.grad for p in parameters],
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
        }
        torch.save(everything, folder / "step.pt")
        seen.clear()

    hooks = [module.register_forward_hook(keep) for module in model.modules()]
    yield recorded
    for hook in hooks:
        hook.remove()


def msprobe(summary: str) -> Recorder:
    """Statistics by msprobe of every module, or its checksums."""

    @contextmanager
    def recorder(
        model: nn.Module, optimizer: torch.optim.Optimizer, step: Step, folder: Path
    ) -> Iterator[Step]:
        debugger_class = importlib.import_module("msprobe.pytorch").PrecisionDebugger
        config = {
            "task": "statistics",
            "dump_path": str(folder / "dump"),
            "rank": [],
            "step": [],
            "level": "L0",
            "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": summary},
        }
        path = folder / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        # There is one debugger in a process, whatever it is asked for; it is told anew.
        debugger_class._instance = None
        debugger = debugger_class(config_path=str(path))

        def recorded() -> None:
            debugger.start(model=model)
            step()
            debugger.stop()
            debugger.step()

        yield recorded

    return recorder


def _ours_at(level: str) -> Recorder:
    return lambda model, optimizer, step, folder: ours(model, optimizer, step, folder, level)


RECORDERS: dict[str, tuple[Recorder, str]] = {
    "bisect-debugger, digests": (_ours_at("digest"), "probes"),
    "bisect-debugger, all values": (_ours_at("full"), "probes"),
    "DebugMode with hashes": (debug_mode, "torch.utils._debug_mode"),
    "torch.save of everything": (save_all, "torch"),
    "msprobe L0 statistics": (msprobe("statistics"), "msprobe.pytorch"),
    "msprobe L0 checksums": (msprobe("md5"), "msprobe.pytorch"),
}
"""Name -> recorder, and the module that it needs."""


def seconds_of(step: Step, steps: int) -> list[float]:
    """Seconds of each of some steps."""
    taken = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        taken.append(time.perf_counter() - began)
    return taken


def ratio(name: str, workload: str, rounds: int) -> float:
    """How many times as long a recorded step takes."""
    torch.manual_seed(0)
    model, optimizer, step = WORKLOADS[workload][0]()
    once = statistics.median(seconds_of(step, 5)[2:])
    steps = max(2, round(_STRETCH_SECONDS / once))
    bare, recorded = [], []
    for _ in range(rounds):
        bare += seconds_of(step, steps)
        with (
            tempfile.TemporaryDirectory() as folder,
            # Peers narrate on stdout.
            contextlib.redirect_stdout(None),
            RECORDERS[name][0](model, optimizer, step, Path(folder)) as with_recorder,
        ):
            # The first step of a recording meets everything for the first time.
            with_recorder()
            recorded += seconds_of(with_recorder, max(2, steps // 4))
    return statistics.median(recorded) / statistics.median(bare)


def is_there(module: str) -> bool:
    """Whether a peer can be imported."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def main() -> None:
    """Measure every recorder that is there on the workloads that were named."""
    parser = argparse.ArgumentParser(description="What other recorders cost.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]!r}; there are {', '.join(WORKLOADS)}")
    torch.set_num_threads(options.threads)
    print(f"step time, times the bare step; {options.threads} thread(s), torch {torch.__version__}")
    print(f"{'':30s}" + "".join(f"{name:>24s}" for name in options.workloads))
    for name, (_, module) in RECORDERS.items():
        if not is_there(module):
            print(f"{name:30s}  not installed")
            continue
        ratios = (ratio(name, workload, options.rounds) for workload in options.workloads)
        print(f"{name:30s}" + "".join(f"{found:24.2f}" for found in ratios), flush=True)


if __name__ == "__main__":
    main()
