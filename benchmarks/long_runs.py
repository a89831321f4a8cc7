"""Long runs to measure reading on: written by the recorder's own writer, without a trainer.

A pass over real training would take hours for ten million events. So the events of one step of a
small fully connected net are laid out as the probes lay them out, and handed to `RunWriter` step
after step; the digests are those of numbers that change with every step, and what one run does
otherwise from a planted step on spreads over its step as a fault in a forward pass does.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from probes.writer import Header, RunWriter

LAYERS = 6


@dataclass(frozen=True, slots=True)
class Sketch:
    """One event of the step that is repeated.

    Attributes:
        group, name, component, role, subject: of the buffer.
        late: computed from what the planted fault changes, within its step.
    """

    group: Group
    name: str
    component: str
    role: str
    subject: str = ""
    late: bool = True


def sketch(layers: int = LAYERS) -> tuple[Sketch, ...]:
    """The events of one step in execution order; the fault is in the output of the middle layer."""
    names = [f"net.layer_{k}" for k in range(layers)]
    fault = layers // 2
    events = [
        Sketch(Group.RNG, f"rng.{stream}@start", f"rng.{stream}", "start", late=False)
        for stream in ("torch_cpu", "python", "numpy")
    ]
    events.append(Sketch(Group.DATA, "data.net.in[0]", "data", "in[0]", late=False))
    for k, name in enumerate(names):
        events.append(Sketch(Group.FORWARD, f"{name}.in[0]", name, "in[0]", late=k > fault))
        events.append(Sketch(Group.FORWARD, f"{name}.out", name, "out", late=k >= fault))
    events.append(Sketch(Group.LOSS, "loss", "loss", "loss"))
    for name in reversed(names):
        events.append(Sketch(Group.GRAD_OUT, f"{name}.out.grad", name, "out.grad", f"{name}.out"))
        for role in ("weight", "bias"):
            made = f"{name}.{role}"
            scratch = f"{made}.grad_scratch"
            events.append(Sketch(Group.GRAD_SCRATCH, scratch, name, f"{role}.grad_scratch", made))
    weights = [f"{name}.{role}" for name in names for role in ("weight", "bias")]
    for made in weights:
        holder, _, role = made.rpartition(".")
        events.append(Sketch(Group.GRAD, f"{made}.grad", holder, f"{role}.grad", made))
    for made in weights:
        events.append(
            Sketch(Group.OPTIM, f"optimizer.exp_avg[{made}]", "optimizer", "exp_avg", made)
        )
    for made in weights:
        holder, _, role = made.rpartition(".")
        events.append(Sketch(Group.PARAM, made, holder, role, made))
    return tuple(events)


def write_long_run(
    path: Path, events: int, planted: int | None = None, *, spreads: bool = True, elements: int = 16
) -> Path:
    """Write a run of about so many events.

    Args:
        path: a file that does not exist.
        events: at least so many; whole steps.
        planted: step from which the run computes something else, or None.
        spreads: the fault reaches all that is computed from it; else only one output differs.
        elements: float32 elements of each buffer, at least 16; past that contents are kept.
    """
    layout = Layout("float32", (elements,))
    content = np.random.default_rng(0).standard_normal(elements, dtype=np.float32)
    raw = content.view(np.uint8)
    parts = sketch()
    kept = raw if elements > 16 else None
    header = Header(level="full" if kept is not None else "digest", environment={"torch": "2.13.0"})
    writer = RunWriter(path, header)
    buffers = [writer.buffer(p.group, p.name, p.component, p.role, p.subject) for p in parts]
    # One number of the content tells the place, another one whether the fault is in it.
    whole, nudged = float(content[7]), float(content[7]) + 1e-3
    # Setting an item of a memoryview takes half as long as one of an array.
    values: memoryview[float] = content.data  # type: ignore[assignment]
    emit, digest_of = writer.event, content_digest
    fault = next(k for k, p in enumerate(parts) if p.role == "out" and p.late)
    for step in range(-1, -(-events // len(parts))):
        reached = planted is not None and step >= planted
        values[0] = step
        for place, (buffer, part) in enumerate(zip(buffers, parts, strict=True)):
            if step < 0 and part.group is not Group.PARAM:
                continue
            values[1] = place
            if reached:
                carries = part.late if step == planted else part.group is not Group.RNG
                values[7] = nudged if (carries and spreads) or place == fault else whole
            emit(buffer, layout, digest_of(raw, layout), content=kept)
        writer.close_step(step)
    writer.finish(END_COMPLETE)
    return path
