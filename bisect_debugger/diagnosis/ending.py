"""The origin of runs that are equal as far as both go, where one of them goes on."""

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.variants import VARIANTS
from bisect_debugger.causality.walk import OUTSIDE_TRAINING
from bisect_debugger.diagnosis.model import Origin
from bisect_debugger.format.schema import EventFlag
from bisect_debugger.format.words import step_words
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair


def origin_of_ends(pair: Pair) -> tuple[Origin, ...]:
    """What one run did first after the other had ended by itself; nothing where neither did."""
    if _extent(pair.a) == _extent(pair.b):
        return ()
    shorter, longer = sorted((pair.a, pair.b), key=_extent)
    # An open row of the shorter one is what it did after it had left its loop.
    rows = _extent(shorter)[0] if _extent(shorter)[0] < _extent(longer)[0] else shorter.step_count
    first = _first_event(longer, rows)
    if first is None:
        return ()
    step, event, buffer = first
    remedy = VARIANTS["ended-otherwise"]
    which = ("first", "second") if shorter is pair.a else ("second", "first")
    return (
        Origin(
            step=step,
            group=longer.buffers[buffer].group,
            component=longer.buffers[buffer].component,
            buffer=longer.buffers[buffer].name,
            event=event,
            cause=Cause.CONTROL_FLOW,
            evidence=(
                remedy.meaning,
                f"The {which[0]} run ended after {step_words(shorter.step_number(rows - 1))}, the "
                f"{which[1]} went on to {step_words(_went_on_to(longer, rows))}; all common steps "
                "are equal.",
            ),
            advice=remedy.advice,
            confirm=remedy.confirm,
        ),
    )


def _extent(run: Run) -> tuple[int, int]:
    """Closed rows, and all of them: the last one may be open."""
    is_open = bool(run.step_count) and not run.is_closed(run.last_step)
    return run.step_count - is_open, run.step_count


def _went_on_to(run: Run, rows: int) -> int:
    """The last step that an optimizer closed, where there is one behind so many rows."""
    closed = _extent(run)[0]
    return run.step_number(closed - 1) if closed > rows else run.last_step


def _first_event(run: Run, row: int) -> tuple[int, int, int] | None:
    """Step, sequence number and buffer of the first event of training from a row on."""
    for each in range(row, run.step_count):
        events = run.events(each)
        for at in range(len(events.buffer)):
            buffer = int(events.buffer[at])
            is_beside = bool(int(events.flags[at]) & EventFlag.BACKGROUND)
            if run.buffers[buffer].group not in OUTSIDE_TRAINING and not is_beside:
                return run.step_number(each), events.first + at, buffer
    return None
