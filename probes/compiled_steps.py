"""Telling that an optimizer's step is part of a compiled program.

A compiled program calls no hook when it runs, so such a step is neither seen nor closes a step of
the run. The compiler does call the hooks once, to write down what they do: there, and nowhere
else, it can be noticed. `comptime` runs a function at that moment and leaves nothing of it in the
program that is compiled.
"""

import weakref
from typing import Any

from probes.recorder import Recorder

NOTE = "the optimizer's step is compiled and not seen"

_listening: "weakref.WeakSet[Recorder]" = weakref.WeakSet()


def listen(recorder: Recorder) -> None:
    """Let a recording know of compiled steps."""
    _listening.add(recorder)


def note_compiled_step() -> None:
    """Note that the hook that calls this is being compiled; to be called from nowhere else."""
    # Not imported before: a trainer that compiles nothing need not have it.
    from torch._dynamo.comptime import comptime

    comptime(_tell)


def _tell(context: Any) -> None:
    for recorder in list(_listening):
        if not recorder.failed and not recorder.closed:
            try:
                recorder.writer.uncovered(NOTE)
            except Exception as error:  # noqa: BLE001 - a probe must never change the run
                recorder.fail_with(error)
