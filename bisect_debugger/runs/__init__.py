"""Readers of run files. `open_run` validates first, so that everything after may trust."""

from bisect_debugger.runs.blocks import EventBlock, StepBlock
from bisect_debugger.runs.facts import Buffer, RunFacts, SeedingCall
from bisect_debugger.runs.run import Run, open_run
from bisect_debugger.runs.watching import reads_checked

__all__ = [
    "Buffer",
    "EventBlock",
    "Run",
    "RunFacts",
    "SeedingCall",
    "StepBlock",
    "open_run",
    "reads_checked",
]
