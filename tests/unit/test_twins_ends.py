"""Where recordings begin, end and select otherwise: what is compared, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import probes
from bisect_debugger.diagnosis import Verdict, diagnose, diagnose_pair
from bisect_debugger.diagnosis.survey import events_before
from bisect_debugger.errors import NotComparable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import END_INCOMPLETE, END_STOPPED
from bisect_debugger.runs import open_run
from bisect_debugger.twins import open_pair
from bisect_debugger.views.states import compared_lines, compared_of, hint_lines
from probes.writer import Header
from tests.handmade import Made, batch, loss, out, weight, write_made
from tests.unit.recorded import backward


def step(number: int, *extra: Made) -> list[Made]:
    return [batch(10 + number), out("net.a", 20 + number), loss(30 + number), *extra]


def sampled_in(where: int) -> list[list[Made]]:
    sample = Made(Group.REPLAY, "replay.buffer.sample", 99, "replay.buffer", "sample")
    return [[weight("net.a", 1)]] + [step(k, *[sample] * (k == where)) for k in range(5)]


def test_the_same_sample_in_another_step_is_no_bit_equal_run(tmp_path: Path) -> None:
    a = write_made(tmp_path / "a.h5", sampled_in(1))
    b = write_made(tmp_path / "b.h5", sampled_in(3))
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.onset is not None
    assert (found.onset.step, found.onset.group) == (1, Group.REPLAY)
    assert [origin.component for origin in found.origins] == ["replay.buffer"]


def test_groups_in_another_order_are_no_bit_equal_run(tmp_path: Path) -> None:
    plain = [[weight("net.a", 1)], step(0), step(1)]
    turned = [[weight("net.a", 1)], step(0), step(1)[::-1]]
    a, b = write_made(tmp_path / "a.h5", plain), write_made(tmp_path / "b.h5", turned)
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.onset is not None
    assert found.onset.step == 1
    assert [origin.cause.value for origin in found.origins] == ["control-flow"]


def test_groups_in_another_order_are_told_at_level_coarse_too(tmp_path: Path) -> None:
    plain = [[weight("net.a", 1)], step(0), step(1)]
    turned = [[weight("net.a", 1)], step(0), step(1)[::-1]]
    coarse = Header(level="coarse")
    a = write_made(tmp_path / "a.h5", plain, header=coarse)
    b = write_made(tmp_path / "b.h5", turned, header=coarse)
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.sentence == "Diverged. A step holds the same contents in another order."


def run_of(path: Path, count: int, **fields: Any) -> Path:
    return write_made(path, [[weight("net.a", 1)], *(step(k) for k in range(count))], **fields)


RAISED = {"end": END_INCOMPLETE, "reason": "the trainer raised FloatingPointError: nan"}
KILLED = {"end": "killed"}


@pytest.mark.parametrize(
    ("count", "ending", "expected"),
    [
        (3, RAISED, Verdict.INCONCLUSIVE),
        (3, KILLED, Verdict.INCONCLUSIVE),
        (5, RAISED, Verdict.BIT_EQUAL),
        (7, RAISED, Verdict.DIVERGED),
        (3, {}, Verdict.DIVERGED),
    ],
)
def test_a_run_that_ends_early_is_not_called_equal(
    tmp_path: Path, count: int, ending: dict[str, str], expected: Verdict
) -> None:
    a = run_of(tmp_path / "a.h5", 5)
    b = run_of(tmp_path / "b.h5", count, **ending)
    assert diagnose([a, b]).verdict is expected
    assert diagnose([b, a]).verdict is expected


def test_runs_that_somebody_killed_are_equal_as_far_as_both_go(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a.h5", 5, **KILLED), run_of(tmp_path / "b.h5", 3, **KILLED)
    assert diagnose([a, b]).verdict is Verdict.BIT_EQUAL


def test_the_sentence_of_an_early_end_says_what_is_not_known(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a.h5", 5), run_of(tmp_path / "b.h5", 3, **RAISED)
    found = diagnose([a, b])
    assert found.exit_code == 3
    assert found.sentence == (
        "Inconclusive: everything that both runs recorded from init to step 2 is equal, and then "
        "one of them ended early; what it would have done is not known."
    )


def stopped_in_step_1(path: Path, events: list[Made]) -> Path:
    return write_made(path, [[weight("net.a", 1)], step(0), events], open_last=True, **RAISED)  # type: ignore[arg-type]


def test_what_a_run_had_not_done_when_it_died_is_no_difference(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2)
    found = diagnose([a, stopped_in_step_1(tmp_path / "b.h5", step(1)[:2])])
    assert (found.verdict, found.origins, found.onset) == (Verdict.INCONCLUSIVE, (), None)


def test_what_differs_before_a_run_died_is_found(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2)
    b = stopped_in_step_1(tmp_path / "b.h5", [step(1)[0], out("net.a", 500)])
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert [origin.buffer for origin in found.origins] == ["net.a.out"]


def test_events_are_counted_over_the_compared_steps_alone(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 5)
    late = Header(level="full", window="3:")
    steps: list[list[Made]] = [[weight("net.a", 1)], *([] for _ in range(3)), step(3), step(4)]
    b = write_made(tmp_path / "b.h5", steps, header=late)
    with open_pair(a, b) as pair:
        assert events_before(pair, 1) == 1
        assert events_before(pair, pair.step_count) == 7
    c, d = (stopped_in_step_1(tmp_path / f"{name}.h5", step(1)) for name in "cd")
    compared = diagnose([c, d]).compared
    assert (compared.last_step, compared.events) == (0, 4)


def trained(path: Path, **options: Any) -> Path:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with probes.attach(model, optimizer, out=path, **options):
        for number in range(5):
            optimizer.zero_grad()
            batch = torch.full((2, 4), float(number + options.get("late", 0)))
            backward(model(batch).square().sum())
            optimizer.step()
    return path


def test_equal_runs_over_other_windows_are_equal(tmp_path: Path) -> None:
    a, b = trained(tmp_path / "a.h5"), trained(tmp_path / "b.h5", steps="2:4")
    c = trained(tmp_path / "c.h5", steps="3:")
    assert diagnose([a, b, c]).verdict is Verdict.BIT_EQUAL


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ({}, {"exclude": ["*bias*"]}, "selection (exclude: [] against"),
        ({}, {"include": ["model.*"]}, "selection (include: [] against"),
        ({}, {"groups": ["param"]}, "selection (groups: rng,"),
        ({"level": "coarse"}, {}, "level coarse and level digest"),
        ({"level": "coarse"}, {"level": "coarse", "steps": "2:"}, "over other steps"),
    ],
)
def test_recordings_made_otherwise_are_refused(
    tmp_path: Path, left: dict[str, Any], right: dict[str, Any], words: str
) -> None:
    a, b = trained(tmp_path / "a.h5", **left), trained(tmp_path / "b.h5", **right)
    with pytest.raises(NotComparable, match="record both") as refused:
        diagnose([a, b])
    assert words in str(refused.value)


def test_heads_alone_select_nothing(tmp_path: Path) -> None:
    a, b = trained(tmp_path / "a.h5"), trained(tmp_path / "b.h5", heads=["1"])
    assert diagnose([a, b]).verdict is Verdict.BIT_EQUAL


def test_ranks_are_not_taken_for_twins(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2, header=Header(level="full", rank=0, world_size=2))
    b = run_of(tmp_path / "b.h5", 2, header=Header(level="full", rank=1, world_size=2))
    with pytest.raises(NotComparable, match="rank 0 and rank 1"):
        diagnose([a, b])


STOPPED = {"end": END_STOPPED, "reason": "stopped after 3 steps, as asked"}
FAILED = {"end": END_INCOMPLETE, "reason": "RuntimeError: no attribute for you"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((5, {}), (3, STOPPED), Verdict.BIT_EQUAL),
        ((5, STOPPED), (3, STOPPED), Verdict.BIT_EQUAL),
        ((3, {}), (5, STOPPED), Verdict.DIVERGED),
        ((3, KILLED), (5, STOPPED), Verdict.INCONCLUSIVE),
        ((3, FAILED), (5, STOPPED), Verdict.INCONCLUSIVE),
        ((3, FAILED), (3, FAILED), Verdict.INCONCLUSIVE),
        ((3, FAILED), (5, FAILED), Verdict.INCONCLUSIVE),
        ((3, FAILED), (3, KILLED), Verdict.INCONCLUSIVE),
        ((3, FAILED), (5, {}), Verdict.INCONCLUSIVE),
        ((3, RAISED), (3, RAISED), Verdict.BIT_EQUAL),
    ],
)
def test_how_runs_ended_decides_what_equal_steps_say(
    tmp_path: Path,
    left: tuple[int, dict[str, str]],
    right: tuple[int, dict[str, str]],
    expected: Verdict,
) -> None:
    a = run_of(tmp_path / "a.h5", left[0], **left[1])
    b = run_of(tmp_path / "b.h5", right[0], **right[1])
    assert diagnose([a, b]).verdict is expected
    assert diagnose([b, a]).verdict is expected


def test_a_run_that_was_stopped_is_complete_as_far_as_it_goes(tmp_path: Path) -> None:
    a, b = (run_of(tmp_path / f"{name}.h5", 3, **STOPPED) for name in "ab")
    found = diagnose([a, b])
    assert (found.verdict, found.remarks) == (Verdict.BIT_EQUAL, ())
    assert all(run.complete for run in found.runs)
    with open_run(a) as run:
        assert (run.facts.complete, run.facts.stopped) == (True, True)
        assert run.facts.end_reason == "stopped after 3 steps, as asked"


def test_closing_with_a_reason_tells_stopped_from_broken(tmp_path: Path) -> None:
    for reason, expected in (
        ("stopped after 1 steps, as asked", (True, True)),
        ("the trainer raised ValueError: x", (False, False)),
        ("", (True, False)),
    ):
        model = nn.Linear(2, 1)
        path = tmp_path / f"{len(reason)}.h5"
        recording = probes.attach(model, torch.optim.SGD(model.parameters(), 0.1), out=path)
        recording.close(reason)
        with open_run(path) as run:
            assert (run.facts.complete, run.facts.stopped) == expected


def test_both_failures_are_named_in_the_sentence(tmp_path: Path) -> None:
    a, b = (run_of(tmp_path / f"{name}.h5", 3, **FAILED) for name in "ab")
    assert "both ended early" in diagnose([a, b]).sentence


def test_what_a_program_does_after_it_was_interrupted_is_not_compared(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a.h5", 2)
    handled = [step(1)[0], out("net.check", 500), out("net.a", 501)]
    found = diagnose([a, stopped_in_step_1(tmp_path / "b.h5", handled)])
    assert (found.verdict, found.origins, found.onset) == (Verdict.INCONCLUSIVE, (), None)


def test_a_step_that_nothing_closed_is_not_held_whole_against_one_that_was(tmp_path: Path) -> None:
    """Somebody closed the recording in a `finally`: the run counts as complete."""
    a = run_of(tmp_path / "a.h5", 3)
    steps = [[weight("net.a", 1)], step(0), step(1)[:2]]
    b = write_made(tmp_path / "b.h5", steps, open_last=True)
    found = diagnose([a, b])
    assert (found.verdict, found.origins) == (Verdict.DIVERGED, ())
    assert "One run goes on after the other ended" in found.sentence


def windowed(path: Path, shift: float, **options: Any) -> Path:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    with probes.attach(model, optimizer, out=path, **options):
        for number in range(6):
            optimizer.zero_grad()
            batch = torch.full((2, 4), float(number) + shift * (number == 1))
            backward(model(batch).square().sum())
            optimizer.step()
    return path


def test_what_differs_where_a_window_opens_is_one_origin_and_says_so(tmp_path: Path) -> None:
    a, b = (windowed(tmp_path / f"{x}.h5", k, steps="3:") for k, x in enumerate("ab"))
    found = diagnose([a, b])
    (origin,) = found.origins
    assert (origin.step, origin.cause.value) == (3, "unexplained")
    assert "already different when the window opens" in origin.evidence[0]
    assert any("already where the recording begins (step 3)" in words for words in found.remarks)
    assert [step.node for step in origin.trail] == ["opened-late"]


def test_equal_windows_say_which_steps_were_compared(tmp_path: Path) -> None:
    a, b = (windowed(tmp_path / f"{x}.h5", 0.0, steps="3:5") for x in "ab")
    found = diagnose([a, b])
    assert found.verdict is Verdict.BIT_EQUAL
    assert "from init and steps 3 to 4 have" in found.sentence
    assert found.compared.window_start == 3


def test_a_fault_within_a_window_is_found_as_ever(tmp_path: Path) -> None:
    a, b = (windowed(tmp_path / f"{x}.h5", k, steps="1:") for k, x in enumerate("ab"))
    assert [origin.component for origin in diagnose([a, b]).origins] == ["data"]


def test_level_coarse_speaks_of_groups(tmp_path: Path) -> None:
    a, b = (run_of(tmp_path / f"{x}.h5", 3, header=Header(level="coarse")) for x in "ab")
    assert diagnose([a, b]).sentence == (
        "Bit-equal: every group has the same digest in each step, from init to step 2."
    )


def test_what_no_optimizer_closed_is_no_step_in_words(tmp_path: Path) -> None:
    """An evaluation after the last step: the verdict, the trail and the views count alike."""
    a, b = (run_of(tmp_path / f"{name}.h5", 4, open_last=True) for name in "ab")
    with open_pair(a, b) as pair:
        found = diagnose_pair(pair)
        assert (found.compared.last_step, pair.a.last_step, pair.a.last_closed_step) == (2, 3, 2)
        said = compared_lines(compared_of(pair))
    assert said[0] == "Compared: 4 steps, init to step 2."
    assert f"{a}, up to step 2, " in said[1]
    assert found.trail[0].evidence.startswith(f"{a}: last whole step 2;")
    assert found.trail[0].answer == "yes"


def test_runs_that_were_stopped_on_purpose_did_not_end_by_themselves(tmp_path: Path) -> None:
    fields = {"end": END_STOPPED, "reason": "stopped after 2 steps, as asked"}
    a, b = (run_of(tmp_path / f"{name}.h5", 2, **fields) for name in "ab")
    with open_pair(a, b) as pair:
        step_of_ends = diagnose_pair(pair).trail[0]
    assert step_of_ends.answer == "as far as asked"
    assert step_of_ends.evidence.count("stopped after 2 steps, as asked") == 2


@pytest.mark.parametrize(("ending", "remarked"), [({}, True), (STOPPED, False)])
def test_the_length_of_a_run_that_was_stopped_is_no_remark(
    tmp_path: Path, ending: dict[str, str], remarked: bool
) -> None:
    a, b = run_of(tmp_path / "a.h5", 5), run_of(tmp_path / "b.h5", 3, **ending)
    remarks = " ".join(diagnose([a, b]).remarks)
    assert ("another number of steps" in remarks) is remarked


def test_work_behind_the_last_step_of_one_run_alone_is_told_as_that(tmp_path: Path) -> None:
    """Both closed as many steps, and what stands open behind them is no other order."""
    a = run_of(tmp_path / "a.h5", 2)
    steps = [[weight("net.a", 1)], *(step(k) for k in range(3))]
    b = write_made(tmp_path / "b.h5", steps, open_last=True)
    found = diagnose([a, b])
    assert found.verdict is Verdict.DIVERGED
    assert found.sentence == (
        "Diverged. One run goes on after the other ended; all common steps are equal."
    )
    assert hint_lines(found) == []


def test_a_run_that_ended_before_its_first_step_ended_after_init(tmp_path: Path) -> None:
    a, b = run_of(tmp_path / "a.h5", 0), run_of(tmp_path / "b.h5", 2)
    (origin,) = diagnose([a, b]).origins
    assert origin.evidence[1].startswith("The first run ended after init, the second went on to ")


def nearly(path: Path, count: int, **fields: Any) -> Path:
    """Outputs that differ by the seed of another content, as a tolerance may allow."""
    apart = [[weight("net.a", 1)], *([batch(10 + k), out("net.a", 500 + k)] for k in range(count))]
    return write_made(path, apart, **fields)


@pytest.mark.parametrize(
    ("count", "ending", "expected", "words"),
    [
        (3, {}, Verdict.WITHIN_TOLERANCE, "Within tolerance from init to step 2"),
        (5, {}, Verdict.DIVERGED, "Diverged. One run goes on after the other ended; all common "),
        (2, RAISED, Verdict.INCONCLUSIVE, "Inconclusive: all common steps are within the "),
    ],
)
def test_a_tolerance_takes_nothing_off_another_end(
    tmp_path: Path, count: int, ending: dict[str, str], expected: Verdict, words: str
) -> None:
    plain = [[weight("net.a", 1)], *([batch(10 + k), out("net.a", 20 + k)] for k in range(3))]
    a = write_made(tmp_path / "a.h5", plain)
    found = diagnose([a, nearly(tmp_path / "b.h5", count, **ending)], tolerance=10.0)
    assert found.verdict is expected
    assert found.sentence.startswith(words)
