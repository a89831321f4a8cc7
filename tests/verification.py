"""Proves a run file from its own content: every digest in it computed again."""

import numpy as np

from bisect_debugger.format.digests import (
    chain,
    chain_groups,
    content_digest,
    name_hash,
    pairs_from_bytes,
    step_digests,
)
from bisect_debugger.format.groups import GROUP_COUNT
from bisect_debugger.format.multilinear import multilinear_digest
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import Run


def verify(run: Run) -> int:
    """Compute all digests again and compare.

    Returns:
        How many contents were verified.
    """
    identity = np.array([name_hash(*buffer.key) for buffer in run.buffers], dtype=np.uint64)
    groups = np.array([buffer.group for buffer in run.buffers], dtype=np.uint8)
    running, running_groups = bytes(16), np.zeros(GROUP_COUNT, dtype=np.uint64)
    steps = run.steps(0, run.step_count)
    contents = 0
    for row in range(run.step_count):
        events = run.events(row)
        counts = (events.flags & int(EventFlag.BACKGROUND)) == 0
        buffers = events.buffer[counts]
        own, by_group = step_digests(
            identity[buffers], events.digest[counts], groups[buffers], events.thread[counts]
        )
        running, running_groups = chain(running, own), chain_groups(running_groups, by_group)
        assert steps.digest[row].tolist() == pairs_from_bytes(own)[0].tolist()
        assert steps.group_digest[row].tolist() == by_group.tolist()
        assert run.running_digest(row) == pairs_from_bytes(running)[0].tobytes()
        assert run.running_group_digest(row).tolist() == running_groups.tolist()
        contents += _verify_contents(run, row)
    return contents


def verify_chain(run: Run) -> None:
    """Compute the running digests again from those of the steps, which is all that coarse keeps."""
    running, steps = bytes(16), run.steps(0, run.step_count)
    for row in range(run.step_count):
        running = chain(running, steps.digest[row].astype(">u8").tobytes())
        assert run.running_digest(row) == pairs_from_bytes(running)[0].tobytes()


def _verify_contents(run: Run, row: int) -> int:
    events = run.events(row)
    found = 0
    for digest, layout_row, flags in zip(events.digest, events.layout, events.flags, strict=True):
        layout = run.layouts[layout_row]
        elements = run.payload(digest, layout)
        if elements is not None:
            raw = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
            compute = multilinear_digest if flags & EventFlag.ON_DEVICE else content_digest
            expected = pairs_from_bytes(compute(raw, layout))[0]
            assert digest.tolist() == expected.tolist()
            found += 1
    return found
