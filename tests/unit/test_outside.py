"""Parameters that a thread writes in the middle of steps, and what was computed with them."""

from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import diagnose
from bisect_debugger.diagnosis.model import Origin
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE, THREAD_BESIDE, EventFlag
from probes.writer import Header, RunWriter
from tests.runs import Array, nudged, values

OUTSIDE = EventFlag.OUTSIDE_STEP


def write(path: Path, gradient: Array, *, written: str, thread: str) -> Path:
    """Three steps in which a maker learns through a critic; the gradient is that of the second."""
    writer = RunWriter(path, Header(level="full", environment={"recorded_by": "command"}))
    if thread:
        writer.uncovered(f"{THREAD_BESIDE}{thread}")
    for step in range(-1, 3):
        for group, name, content, flags in events_of(step, gradient, written):
            component, _, role = name.rpartition(".")
            if role == "grad":
                component = component.rpartition(".")[0]
            layout = Layout(content.dtype.name, tuple(content.shape))
            raw = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
            buffer = writer.buffer(group, name, component, role)
            writer.event(buffer, layout, content_digest(raw, layout), int(flags), content=raw)
        writer.close_step(step)
    writer.finish(END_COMPLETE)
    return path


def events_of(
    step: int, gradient: Array, written: str
) -> list[tuple[Group, str, Array, EventFlag]]:
    none = EventFlag(0)
    if step < 0:
        names = ("maker.2.weight", "critic.0.weight", "average.0.weight")
        return [(Group.PARAM, name, values(1), EventFlag.INIT) for name in names]
    return [
        (Group.PARAM, written, values(70 + step), OUTSIDE),
        (Group.FORWARD, "maker.2.out", values(20 + step), none),
        (Group.FORWARD, "critic.0.out", values(30 + step), none),
        (Group.LOSS, "loss", values(40 + step, ()), none),
        (Group.GRAD_OUT, "maker.2.out.grad", gradient if step == 1 else values(50 + step), none),
    ]


def told(tmp_path: Path, written: str, thread: str) -> Origin:
    plain = values(51)
    a = write(tmp_path / "a.h5", plain, written=written, thread=thread)
    b = write(tmp_path / "b.h5", nudged(plain), written=written, thread=thread)
    (origin,) = diagnose([a, b]).origins
    return origin


def test_who_writes_while_others_compute_is_at_fault(tmp_path: Path) -> None:
    origin = told(tmp_path, "critic.0.weight", "Thread-N")
    assert (origin.component, origin.cause) == ("critic.0", Cause.ASYNC_UPDATE)
    assert (origin.buffer, origin.step) == ("maker.2.out.grad", 1)
    assert origin.contaminated[0] == "maker.2"
    assert Cause.BACKWARD_KERNEL in [each.cause for each in origin.alternatives]


@pytest.mark.parametrize(
    ("written", "thread"),
    [("critic.0.weight", ""), ("average.0.weight", "Thread-N")],
    ids=["no-thread", "of-no-use"],
)
def test_a_kernel_is_blamed_where_nobody_else_may_have_been(
    tmp_path: Path, written: str, thread: str
) -> None:
    origin = told(tmp_path, written, thread)
    assert (origin.component, origin.cause) == ("maker.2", Cause.BACKWARD_KERNEL)
