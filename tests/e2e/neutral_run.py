"""Runs the trainers of the neutrality test, bare or probed; writes what they ended in as JSON.

Called as ``python -m tests.e2e.neutral_run bare RESULT`` or ``... probed RESULT FOLDER LEVEL``,
behind which ``zoom`` may stand.
"""

import hashlib
import json
import random
import sys
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.e2e import neutral_corners, neutral_models  # noqa: F401 - importing fills TRAINERS
from tests.e2e.neutral_job import TRAINERS, Job

STEPS = 4


def digest(tensors: Iterable[torch.Tensor | None]) -> str:
    """One hash over the bits of tensors."""
    whole = hashlib.sha256()
    for tensor in tensors:
        if tensor is not None:
            dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
            whole.update(dense.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return whole.hexdigest()


def moments(optimizer: torch.optim.Optimizer) -> Iterable[torch.Tensor]:
    for state in optimizer.state.values():
        for value in state.values():
            if isinstance(value, torch.Tensor) and value.numel():
                yield value


def end_of(job: Job) -> dict[str, str]:
    """Everything that training left behind."""
    modules = [*job.models.values(), *job.extra.values()]
    parameters = [p for m in modules for p in m.parameters() if p.numel()]
    return {
        "parameters": digest(parameters),
        "buffers": digest(b for m in modules for b in m.buffers()),
        "gradients": digest(p.grad for p in parameters),
        "moments": digest(t for o in job.optimizers for t in moments(o)),
        "torch stream": digest([torch.get_rng_state()]),
        "numpy stream": repr(np.random.get_state()),
        "python stream": repr(random.getstate()),
        "compiled graphs": repr(sorted(compiled_graphs().items())),
    }


def compiled_graphs() -> dict[str, int]:
    """How often torch.compile cut the program up; a hook that is traced would add to it."""
    if "torch._dynamo" not in sys.modules:
        return {}
    counters = torch._dynamo.utils.counters
    return {**counters["stats"], "breaks": sum(counters["graph_break"].values())}


def leftovers(job: Job) -> list[str]:
    """What probes left behind."""
    hooks = torch.nn.modules.module
    found = [
        name
        for name in ("_global_forward_pre_hooks", "_global_forward_hooks")
        if getattr(hooks, name)
    ]
    for model in job.models.values():
        for path, module in model.named_modules():
            tables = ("_forward_hooks", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs")
            found += [f"{path}.{name}" for name in tables if getattr(module, name, None)]
        found += [name for name, p in model.named_parameters() if p._backward_hooks]
    for optimizer in job.optimizers:
        found += [f"{n}" for n in vars(optimizer) if n.endswith("_hooks") and vars(optimizer)[n]]
    found += [f"{type(t).__name__}.{m}" for t, m in job.watched if m in vars(t)]
    return found


def functions() -> list[Any]:
    """Everything that is replaced while a recording goes on."""
    return [
        torch.nn.Module._call_impl,
        torch.autograd.backward,
        torch.autograd.grad,
        torch.manual_seed,
        torch.seed,
        random.seed,
        vars(random.Random)["seed"],
        vars(torch.Generator)["manual_seed"],
        np.random.seed,
        np.random.default_rng,
    ]


def run(
    name: str, out: Path | None = None, level: str = "", draws: int = 0, zoom: bool = False
) -> dict[str, Any]:
    """Train one of the trainers from a fixed seed, after some draws that do not belong to it."""
    torch.manual_seed(1)
    np.random.seed(2)
    random.seed(3)
    job = TRAINERS[name]()
    before, filters = functions(), None
    recording: Any = nullcontext()
    if out:
        import probes

        filters = list(warnings.filters)
        recording = probes.attach(job.models, job.optimizers, out=out, level=level, zoom=zoom)
        for target, method in job.watched:
            recording.watch(target, method)
    torch.rand(draws)
    with recording:
        for step in range(STEPS):
            job.step(step)
    result: dict[str, Any] = {"end": end_of(job), "left": leftovers(job)}
    if out:
        result["left"] += ["a function"] if functions() != before else []
        result["left"] += ["a warning filter"] if warnings.filters != filters else []
    return result


def main() -> None:
    mode, result, *rest = sys.argv[1:]
    torch.set_num_threads(1)
    folder = Path(rest[0]) if mode == "probed" else None
    level = rest[1] if len(rest) > 1 else "digest"
    ends = {}
    # Once something is compiled, operators are not looked at any more.
    for name in sorted(TRAINERS, key=lambda name: "compile" in name):
        out = folder / f"{name}.h5" if folder else None
        ends[name] = run(name, out, level, zoom="zoom" in rest)
        if mode == "bare":
            ends[name]["disturbed"] = run(name, draws=1)["end"]
    Path(result).write_text(json.dumps(ends), encoding="utf-8")


if __name__ == "__main__":
    main()
