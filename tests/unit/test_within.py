"""Cross-checks inside one run: written outside a step, and batches that come again."""

from pathlib import Path

from bisect_debugger.format.schema import EventFlag
from bisect_debugger.runs import open_run
from bisect_debugger.runs.within import cross_checks
from tests.handmade import Made, batch, out, weight, write_made


def checks(tmp_path: Path, *steps: list[Made]) -> tuple[str, ...]:
    with open_run(write_made(tmp_path / "a.h5", [[weight("net", 1)], *steps])) as run:
        return cross_checks(run)


def test_a_run_as_it_should_be_says_nothing(tmp_path: Path) -> None:
    steps = [[batch(10 + n), out("net", 20 + n), weight("net", 30 + n)] for n in range(4)]
    assert checks(tmp_path, *steps) == ()


def test_a_parameter_that_changed_with_no_optimizer_step(tmp_path: Path) -> None:
    outside = weight("net", 7, EventFlag.OUTSIDE_STEP)
    assert checks(tmp_path, [batch(1)], [outside, batch(2)], [outside, batch(3)]) == (
        "net changed outside an optimizer step, first before step 1, before 2 steps in all.",
    )


def test_a_batch_that_comes_again(tmp_path: Path) -> None:
    told = checks(tmp_path, [batch(1)], [batch(2)], [batch(1)], [batch(3)], [batch(2)])
    assert told == ("data.net.in[0] of step 2 is that of step 0 again; so it is in 2 steps.",)


def test_two_calls_of_one_step_may_see_one_batch(tmp_path: Path) -> None:
    assert checks(tmp_path, [batch(1), batch(1)], [batch(2)]) == ()
