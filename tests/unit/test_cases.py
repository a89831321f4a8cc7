"""The evidence about an origin: streams, first steps, order, environment."""

from pathlib import Path

import numpy as np
import pytest

from bisect_debugger.diagnosis import Origin, diagnose
from bisect_debugger.diagnosis.samples import entries
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import open_run
from probes.writer import Header
from tests.handmade import Made, batch, out, stream, weight, write_made


def only_origin(tmp_path: Path, runs: list[list[list[Made]]], **fields: object) -> Origin:
    paths = [
        write_made(tmp_path / f"{name}.h5", steps, **fields)  # type: ignore[arg-type]
        for steps, name in zip(runs, "ab", strict=True)
    ]
    (origin,) = diagnose(paths).origins
    return origin


def with_stream(fault: int, *, drawn: bool) -> list[list[Made]]:
    """The python stream differs all along; the batch differs from step 3 on."""
    shift = 500 * fault

    def step(k: int) -> list[Made]:
        moved = 1000 * (k + 1) * drawn
        return [
            stream("start", 1 + shift + moved),
            stream("start", 7, "numpy"),
            batch(100 + k + shift * (k >= 3)),
            stream("end", 1 + shift + moved),
            stream("end", 7, "numpy"),
        ]

    return [[stream("init", 1 + shift), weight("net", 1)], *(step(k) for k in range(5))]


def test_a_stream_that_differs_and_is_not_drawn_from_is_not_called_equal(tmp_path: Path) -> None:
    runs = [with_stream(fault, drawn=False) for fault in (0, 1)]
    origin = only_origin(tmp_path, runs)
    words = next(step.evidence for step in origin.trail if step.node == "data-streams")
    assert words == "equal: rng.numpy; different, but not drawn from in this step: rng.python"
    assert "Random streams in this step, equal: rng.numpy." in origin.evidence


def test_draws_before_the_first_boundary_of_a_step_count(tmp_path: Path) -> None:
    """Between two boundaries of one step nothing moves; since the step before, it does."""
    runs = [with_stream(fault, drawn=True) for fault in (0, 1)]
    paths = [write_made(tmp_path / f"{name}.h5", run) for run, name in zip(runs, "ab", strict=True)]
    assert [origin.component for origin in diagnose(paths).origins] == ["rng.python"]


def test_a_buffer_first_recorded_late_is_known_by_its_own_first_step(tmp_path: Path) -> None:
    def run(fault: int) -> list[list[Made]]:
        return [
            [weight("net", 1)],
            *(
                [out("net", 5 + k)] + [batch(100 + k + 500 * fault * (k >= 10), "val")] * (k >= 5)
                for k in range(12)
            ),
        ]

    origin = only_origin(tmp_path, [run(0), run(1)])
    words = next(step.evidence for step in origin.trail if step.node == "data-first")
    assert words == "equal in step 5, first different in step 10"
    with open_run(tmp_path / "a.h5") as opened:
        assert opened.first_step_of((Group.DATA, "data.val.in[0]")) == 5
        assert opened.first_step_of((Group.PARAM, "net.w")) == -1
        assert opened.first_step_of((Group.PARAM, "nobody")) is None


@pytest.mark.parametrize("drawn", [True, False])
def test_names_of_streams_and_calls_are_escaped_in_the_evidence(
    tmp_path: Path, drawn: bool
) -> None:
    def run(fault: int) -> list[list[Made]]:
        shift = 500 * fault
        state = [stream("start", 1 + shift, "\x1b[2J"), stream("end", 2 + shift * drawn, "\x1b[2J")]
        return [[weight("net", 1)], [state[0], out("net", 3 + shift), state[1]]]

    calls = (("\x1b[31mseed", "entropy", "train.py:3"),)
    paths = [write_made(tmp_path / f"{k}.h5", run(k), seeding=calls) for k in (0, 1)]
    found = diagnose(paths)
    told = [line for each in (*found.origins, *found.dormant_streams) for line in each.evidence]
    assert any("\\x1b[2J" in line for line in told)
    assert any("\\x1b[31mseed" in line for line in told)
    assert all(line.isprintable() for line in told)


@pytest.mark.parametrize(
    ("fact", "cause"),
    [
        ("env:CUDA_VISIBLE_DEVICES", "rng-stream"),
        ("cpu_count", "rng-stream"),
        ("torch_num_threads", "environment"),
        ("env:OMP_NUM_THREADS", "environment"),
    ],
)
def test_only_facts_that_decide_how_kernels_add_up_are_a_cause(
    tmp_path: Path, fact: str, cause: str
) -> None:
    paths = [
        write_made(
            tmp_path / f"{name}.h5",
            [[weight("net", 1)], [batch(2), out("net", 3 + 500 * k)]],
            header=Header(level="full", environment={fact: str(k)}),
        )
        for k, name in enumerate("ab")
    ]
    (origin,) = diagnose(paths).origins
    assert origin.cause.value == cause


def test_entries_in_another_order_are_recognised_by_their_bytes() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    turned = rows[::-1].copy()
    assert (np.sort(entries(rows)) == np.sort(entries(turned))).all()
    turned[0, 0] += 1
    assert not (np.sort(entries(rows)) == np.sort(entries(turned))).all()
    flat = np.array([3, 1, 2], dtype=np.int64)
    assert (np.sort(entries(flat)) == np.sort(entries(np.sort(flat)))).all()
