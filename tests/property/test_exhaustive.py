"""Comparing everything in blocks says what a plain walk over every aligned event says."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_debugger.errors import NotComparable
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE, EventFlag
from bisect_debugger.twins import Pair, Status, contents, exhaustive, open_pair
from probes.writer import Header, RunWriter

BUFFERS = (
    (Group.RNG, "rng.python@start", "rng.python"),
    (Group.DATA, "data.net.in[0]", "data"),
    (Group.FORWARD, "net.a.out", "net.a"),
    (Group.FORWARD, "net.b.out", "net.b"),
    (Group.GRAD, "net.a.w.grad", "net.a"),
    (Group.PARAM, "net.a.w", "net.a"),
)

# Buffer, content, elements, values kept, of a thread beside the training.
events = st.tuples(
    st.integers(0, len(BUFFERS) - 1),
    st.integers(0, 2),
    st.sampled_from((1, 6)),
    st.sampled_from((True, True, False)),
    st.sampled_from((False, False, False, True)),
)
Step = list[tuple[int, int, int, bool, bool]]
steps = st.lists(events, max_size=6)
changes = st.sampled_from(("same", "same", "other", "value", "missing", "swapped"))
histories = st.lists(st.tuples(steps, changes, steps), min_size=1, max_size=8)


def write(path: Path, history: list[Step]) -> Path:
    writer = RunWriter(path, Header(level="full"), flush_seconds=60.0)
    actor = ThreadPoolExecutor(1, "actor")
    for step, own in enumerate(history, -1):
        for index, seed, elements, kept, beside in own:
            group, name, component = BUFFERS[index]
            layout = Layout("float32", (elements,))
            values = np.random.default_rng([index, seed]).standard_normal(elements, np.float32)
            raw = values.view(np.uint8)
            buffer = writer.buffer(group, name, component, name)
            digest = content_digest(raw, layout)
            emit = partial(writer.event, buffer, layout, digest, content=raw if kept else None)
            if beside:
                actor.submit(emit).result()
            else:
                emit()
        writer.close_step(step)
    writer.finish(END_COMPLETE)
    actor.shutdown()
    return path


def changed(own: Step, how: str, other: Step) -> Step:
    if how == "other":
        return other
    if how == "value" and own:
        index, seed, elements, kept, beside = own[-1]
        return [*own[:-1], (index, seed + 1, elements, kept, beside)]
    if how == "missing":
        return own[1:]
    return own[1:] + own[:1] if how == "swapped" else own


def walked(pair: Pair) -> Counter[tuple[Group, str, str]]:
    """Every count, from one event after the other."""
    found: Counter[tuple[Group, str, str]] = Counter()
    for row in range(pair.step_count):
        for event in pair.rows(row):
            if EventFlag.BACKGROUND in event.flags:
                continue
            cell = (event.group, event.component)
            if event.status is Status.ONE_SIDED:
                found[(*cell, "one_sided")] += 1
            elif event.status is Status.EQUAL:
                found[(*cell, "moved" if event.moved else "equal")] += 1
            else:
                found[(*cell, "differing")] += 1
                assert event.a is not None
                assert event.b is not None
                left, right = pair.values(event)
                if event.a.layout != event.b.layout:
                    found[(*cell, "other_layout")] += 1
                elif left is None or right is None:
                    found[(*cell, "digest_only")] += 1
                else:
                    found[(*cell, "elements")] += event.a.layout.elements
                    apart = left.view(np.uint32) != right.view(np.uint32)
                    found[(*cell, "differing_elements")] += int(apart.sum())
    return found


COUNTS = (
    *("equal", "moved", "differing", "one_sided"),
    *("digest_only", "other_layout", "elements", "differing_elements"),
)


@settings(max_examples=40)
@given(histories)
def test_blocks_say_what_single_events_say(history: list[tuple[Step, str, Step]]) -> None:
    mine = [own for own, _, _ in history]
    theirs = [changed(*entry) for entry in history]
    with TemporaryDirectory() as folder:
        paths = [write(Path(folder) / f"{n}.h5", h) for n, h in (("a", mine), ("b", theirs))]
        try:
            pair = open_pair(*paths)
        except NotComparable:
            return
        with pair:
            found = exhaustive.compare_all(pair)
            expected = walked(pair)
            got = {
                (tally.group, tally.component, name): getattr(tally, name)
                for tally in found.components
                for name in COUNTS
            }
            assert {key: count for key, count in got.items() if count} == {
                key: count for key, count in expected.items() if count
            }
            assert found.beside == sum(
                event[4] for side in (mine, theirs) for own in side for event in own
            )
            assert found.left_out == 0
            for tally in found.components:
                assert tally.events == sum(getattr(tally, name) for name in COUNTS[:4])
                if tally.group is not Group.RNG:
                    assert (tally.greatest is not None) == (tally.elements > 0)


@settings(max_examples=40)
@given(histories, st.integers(1, 5))
def test_the_block_length_changes_nothing(
    history: list[tuple[Step, str, Step]], block: int
) -> None:
    mine = [own for own, _, _ in history]
    theirs = [changed(*entry) for entry in history]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        paths = [write(Path(folder) / f"{n}.h5", h) for n, h in (("a", mine), ("b", theirs))]
        try:
            pair = open_pair(*paths)
        except NotComparable:
            return
        with pair:
            whole = exhaustive.compare_all(pair)
            patch.setattr(exhaustive, "BLOCK_EVENTS", block)
            patch.setattr(exhaustive, "BLOCK_STEPS", block)
            patch.setattr(contents, "BATCH_BYTES", 8 * block)
            patch.setattr(contents, "_REMEMBERED", block)
            assert exhaustive.compare_all(pair) == whole
