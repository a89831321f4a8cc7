"""Steps that several threads close: which of them closes one is chance, and nothing is blamed."""

import threading
from pathlib import Path

import numpy as np

from bisect_debugger.diagnosis import Verdict, diagnose
from bisect_debugger.diagnosis.threads import RACED_WORDS
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE
from probes.writer import Header, RunWriter

LAYOUT = Layout("float32", (4,))


def write(path: Path, value: int, *, beside: bool) -> Path:
    """One step, which the first thread closes, or another one."""
    writer = RunWriter(path, Header())
    weight = writer.buffer(Group.PARAM, "net.w", "net", "w", "")
    grad = writer.buffer(Group.GRAD, "net.w.grad", "net", "w", "net.w")

    def see(buffer: int, content: int) -> None:
        raw = np.full(4, content, dtype=np.float32).view(np.uint8)
        writer.event(buffer, LAYOUT, content_digest(raw, LAYOUT), 0)

    def step() -> None:
        see(grad, value)
        writer.close_step(0)

    see(weight, 1)
    writer.close_step(-1)
    if beside:
        thread = threading.Thread(target=step, name="trains")
        thread.start()
        thread.join()
    else:
        step()
    writer.finish(END_COMPLETE, "")
    return path


def test_what_threads_close_in_turns_is_inconclusive_and_no_step_is_called_equal(
    tmp_path: Path,
) -> None:
    a = write(tmp_path / "a.h5", 2, beside=False)
    b = write(tmp_path / "b.h5", 3, beside=True)
    found = diagnose([a, b])
    assert (found.verdict, found.sentence) == (Verdict.INCONCLUSIVE, RACED_WORDS)
    assert (found.origins, found.onset) == ((), None)
    assert [step.answer for step in found.trail] == ["yes", "step 0"]
