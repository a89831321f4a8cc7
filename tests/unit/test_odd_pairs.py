"""Pairs of runs in which what is usual does not hold: ends, streams, threads, names."""

import _thread
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis import Diagnosis, Verdict, diagnose
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.diagnosis.sentence import sentence_of
from bisect_debugger.driver.twins import _moved
from bisect_debugger.format.digests import content_digest
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import END_COMPLETE, EventFlag
from probes.writer import Header, RunWriter
from tests.builders import diagnosis, equal_diagnosis, origin
from tests.handmade import Made, batch, loss, out, stream, weight, write_made

INIT = [weight("net.a", 1, EventFlag.INIT)]


def step(number: int, *before: Made, other: int = 0) -> list[Made]:
    shown = 100 * number + 1000 * other
    return [
        *before,
        batch(100 * number),
        out("net.a", shown + 1),
        loss(shown + 2),
        weight("net.a", shown + 3),
    ]


def made(folder: Path, a: list[list[Made]], b: list[list[Made]]) -> Diagnosis:
    return diagnose([write_made(folder / "a.h5", a), write_made(folder / "b.h5", b)])


@pytest.mark.parametrize("left", [Made(Group.USER, "final", 1, "final", "final"), out("late", 1)])
def test_as_many_rows_are_not_as_many_steps(tmp_path: Path, left: Made) -> None:
    """One run left its loop in the step that the other one closed."""
    steps = [INIT, *(step(number) for number in range(4))]
    a = write_made(tmp_path / "a.h5", [*steps[:4], [left]], open_last=True)
    found = diagnose([a, write_made(tmp_path / "b.h5", steps)])
    assert found.verdict is Verdict.DIVERGED
    assert found.sentence == (
        "Diverged. One run goes on after the other ended; all common steps are equal."
    )


@pytest.mark.parametrize("dormant", [False, True])
def test_a_stream_that_nobody_draws_from_hides_no_other_order(
    tmp_path: Path, dormant: bool
) -> None:
    def ordered(number: int, turned: bool, seed: int) -> list[Made]:
        made = step(number, stream("start", seed + number))
        if turned:
            made[-2], made[-3] = made[-3], made[-2]
        return made

    a = [INIT, *(ordered(number, False, 50) for number in range(4))]
    b = [INIT, *(ordered(number, number == 2, 9050 if dormant else 50) for number in range(4))]
    found = made(tmp_path, a, b)
    assert found.verdict is Verdict.DIVERGED
    assert found.onset is not None
    assert found.onset.step == 2
    assert found.exit_code == 1


def test_a_stream_that_was_equal_at_init_is_not_said_to_differ_from_the_first(
    tmp_path: Path,
) -> None:
    def drawn(first: int) -> list[list[Made]]:
        init = [*INIT, stream("init", 7, "torch_cpu")]
        return [
            init,
            *(step(k, stream("start", first + k, "torch_cpu"), other=first) for k in (0, 1)),
        ]

    (found,) = made(tmp_path, drawn(1), drawn(2)).origins
    assert (found.component, found.cause) == ("rng.torch_cpu", Cause.RNG_STREAM)


@pytest.mark.parametrize("of_the_engine", [False, True])
def test_a_backward_in_the_engines_own_thread_is_no_thread_of_the_program(
    tmp_path: Path, of_the_engine: bool
) -> None:
    """As every backward on a device has."""
    paths = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path in paths:
        _write_batches(path, of_the_engine, turned=path == paths[1])
    first = diagnose(paths).origins[0]
    assert (first.component, first.cause) == ("data", Cause.DATA_ORDER)


def _write_batches(path: Path, of_the_engine: bool, turned: bool) -> None:
    writer = RunWriter(path, Header(level="full", environment={"recorded_by": "command"}))

    def event(group: Group, name: str, role: str, seed: int, flags: int = 0) -> None:
        content = np.random.default_rng(seed).random((8, 4), np.float32)
        if turned and group is Group.DATA:
            content = content[::-1].copy()
        layout, raw = Layout("float32", (8, 4)), content.reshape(-1).view(np.uint8)
        component = name.split(".")[0] if group is not Group.RNG else name.split("@")[0]
        buffer = writer.buffer(group, name, component, role)
        writer.event(buffer, layout, content_digest(raw, layout), flags, content=raw)

    def backward(seed: int) -> None:
        event(Group.GRAD_SCRATCH, "net.w.grad_scratch", "w", seed)
        done.set()

    event(Group.PARAM, "net.w", "w", 1, EventFlag.INIT)
    event(Group.RNG, "rng.python@init", "init", 2)
    writer.close_step(-1)
    for number in range(3):
        other = 1000 * turned
        event(Group.RNG, "rng.python@start", "start", 3 + number)
        event(Group.DATA, "data.net.in[0]", "in[0]", 50 + number)
        event(Group.FORWARD, "net.out", "out", 20 + number + other)
        done = threading.Event()
        if of_the_engine:
            _thread.start_new_thread(backward, (30 + number + other,))
        else:
            backward(30 + number + other)
        assert done.wait(60)
        event(Group.PARAM, "net.w", "w", 40 + number + other)
        writer.close_step(number)
    writer.finish(END_COMPLETE)


def test_a_command_of_brackets_alone_is_text(tmp_path: Path) -> None:
    header = Header(environment={"argv": "[" * 20_000})
    paths = [
        write_made(tmp_path / name, [INIT, step(0)], header=header) for name in ("a.h5", "b.h5")
    ]
    assert diagnose(paths).verdict is Verdict.BIT_EQUAL


def test_an_origin_whose_name_ends_another_s_is_told_anew_in_its_own_place() -> None:
    longer = origin(component="agent.net", cause=Cause.RNG_STREAM)
    shorter = origin(component="net", cause=Cause.RNG_STREAM)
    found = diagnosis(longer, shorter)
    found = replace(found, sentence=sentence_of(found))
    now = with_origins(found, [longer, with_cause(shorter, Cause.DATA_ORDER)]).sentence
    assert "agent.net (rng-stream" in now
    assert "; net (data-order" in now


def test_an_onset_that_did_not_come_again_is_told_with_what_was_compared() -> None:
    equal = equal_diagnosis()
    last = equal.compared.last_step
    assert f"two more runs are bit-equal up to step {last}, where" in _moved(4, equal)
    unsure = replace(equal, verdict=Verdict.INCONCLUSIVE)
    assert f"have no such difference up to step {last} (inconclusive)" in _moved(4, unsure)


@pytest.mark.parametrize("evaluates", [True, False])
def test_a_budget_that_was_over_a_step_earlier_is_no_fault_of_the_data(
    tmp_path: Path, evaluates: bool
) -> None:
    """Both evaluate behind their loops; the shorter one's batch stands in the other's step."""
    shown = out("net.a", 778, flags=EventFlag.NO_GRAD)
    evaluation = [[batch(777), shown]] if evaluates else []
    steps = [INIT, *(step(number) for number in range(4))]
    a = write_made(tmp_path / "a.h5", [*steps[:4], *evaluation], open_last=evaluates)
    b = write_made(tmp_path / "b.h5", [*steps, *evaluation], open_last=evaluates)
    found = diagnose([a, b])
    assert found.sentence == (
        "Diverged. One run goes on after the other ended; all common steps are equal."
    )
    (found_origin,) = found.origins
    assert (found_origin.cause, found_origin.step) == (Cause.CONTROL_FLOW, 3)
    assert (
        "The first run ended after step 2, the second went on to step 3"
        in (found_origin.evidence[1])
    )


def test_another_order_at_level_coarse_is_no_early_end(tmp_path: Path) -> None:
    turned = step(1)
    turned[-2], turned[-3] = turned[-3], turned[-2]
    coarse = Header(level="coarse")
    a = write_made(tmp_path / "a.h5", [INIT, step(0), step(1)], header=coarse)
    b = write_made(tmp_path / "b.h5", [INIT, step(0), turned], header=coarse)
    found = diagnose([a, b], 0.1)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "the same contents in another order" in found.sentence
