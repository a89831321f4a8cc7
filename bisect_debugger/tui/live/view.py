"""What the live screen shows, as lines made from what was heard."""

import shlex
from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from bisect_debugger.progress import (
    ExperimentView,
    Phase,
    ProcessView,
    RunView,
    Seen,
    TwinsView,
)
from bisect_debugger.tui.look import Look
from bisect_debugger.twins import Status
from bisect_debugger.views.names import elide

_BAR = 30
_MOST_PROCESSES = 4
"""Lines for the processes of one run."""

_LOW = 16
_LEAST_OUTPUT, _LEAST_OUTPUT_LOW = 5, 3
"""Lines that the trainer's output keeps, however much there is to say above it; in a low window."""


def title(view: TwinsView) -> str:
    """What goes on, for the title line."""
    if view.judging:
        return f"Live: comparing {view.judging}"
    run = view.running
    if run is None:
        return "Live: between two runs" if view.runs else "Live: starting"
    if run.phase is Phase.EXPERIMENT:
        return "Live: experiments, one condition changed at a time"
    return f"Live: {run.began.title}, {run.phase.meaning}"


def what_runs(view: TwinsView) -> str:
    """What a person would stop now, with its article."""
    if view.judging:
        return "the comparison"
    run = view.running
    return "the script" if run is not None and run.phase is Phase.ALONE else "the training"


def live_lines(seen: Seen, now: float, width: int, height: int, look: Look) -> list[Text]:
    """Runs, experiments, and below them the last lines of the trainer.

    Args:
        seen: what was heard.
        now: seconds on `time.monotonic`.
        width: columns; no line is longer.
        height: lines there is room for.
        look: how statuses are painted.
    """
    room = max(4, height - (_LEAST_OUTPUT if height >= _LOW else _LEAST_OUTPUT_LOW) - 2)
    for short in (False, True):
        upper = [
            *_head(seen.view, width, short=short),
            *_runs(seen.view, now, width, look, short=short),
            *_experiments(seen.view, now, width),
        ]
        if len(upper) <= room:
            break
    else:
        # The beginning says where the runs go, the end what goes on now.
        left_out = len(upper) - room + 1
        upper = [*upper[:2], Text(f"  ... {left_out} lines"), *upper[2 + left_out :]]
    shown = seen.lines[-max(1, height - len(upper) - 2) :]
    lines = [Text(f"  {cut(line, width - 2)}") for line in shown]
    who = "The script" if what_runs(seen.view) == "the script" else "The trainer"
    heading = Text(f"{who}'s last lines" if lines else f"{who} wrote nothing yet", "bold")
    return [*upper, Text(""), heading, *lines][:height]


def _head(view: TwinsView, width: int, *, short: bool) -> list[Text]:
    if view.began is None:
        return [Text("Starting ...")]
    command = shlex.join(view.began.command)
    return [
        Text(elide(command, width), "bold"),
        Text(f"recordings go to {elide(str(view.began.folder), width - 17)}"),
        *([] if short else [Text("")]),
    ]


def _runs(view: TwinsView, now: float, width: int, look: Look, *, short: bool) -> list[Text]:
    running = view.running
    lines: list[Text] = []
    for run in view.runs:
        mark, what = _mark(run, look, goes_on=run is running), run.phase.meaning
        words = run_words(run, now)
        if short and run is not running:
            what, words = words[0], []
        style = "bold" if run is running else ""
        lines.append(
            Text.assemble(mark, " ", (cut(f"{run.began.title}: {what}", width - 2), style))
        )
        for line in words:
            lines += [Text(f"    {part}") for part in _in_two(line, width - 4)]
    if view.judging:
        lines.append(Text(f"> comparing {view.judging} ...", "bold"))
    return lines


def _mark(run: RunView, look: Look, *, goes_on: bool) -> Text:
    if goes_on:
        return Text(">", "bold")
    if run.phase is not Phase.COMPARED:
        return Text(" ")
    status = Status.EQUAL if run.onset is None else Status.DIFFERS
    return look.symbol(status)


def _in_two(sentence: str, width: int) -> list[str]:
    """A sentence in at most two lines; what has no room in them is cut."""
    lines = wrap(sentence, max(8, width)) or [""]
    rest = [cut(" ".join(lines[1:]), width)] if lines[1:] else []
    return [cut(lines[0], width), *rest]


def cut(sentence: str, width: int) -> str:
    """A sentence as far as there is room for it."""
    if cell_len(sentence) <= width:
        return sentence
    return f"{set_cell_size(sentence, max(0, width - 3)).rstrip()}..."


def run_words(run: RunView, now: float) -> list[str]:
    """A run in words: how far, how fast, and what the comparison says, a line each."""
    if run.ended is not None:
        return [f"{run.ended.words}{_digests(run)}, {duration(run.ended.seconds)}"]
    if run.last is None:
        # A script has no steps that could be told.
        doing = "running" if run.phase is Phase.ALONE else "starting"
        return [f"{doing}, {duration(now - run.began.at)}"]
    of = f" of {run.began.expected - 1}" if run.began.expected else ""
    several = f"{len(run.processes)} processes: " if len(run.processes) > 1 else ""
    words = f"{several}step {run.last.step}{of}"
    if run.rate is not None:
        words += f", {run.rate:.3g} steps/s"
    words += _digests(run)
    left = run.seconds_left(now)
    if left is not None:
        words += f", about {duration(left)} left"
    lines = [words]
    if run.fraction is not None:
        lines.append(_bar(run.fraction))
    return [*lines, *_compared(run), *_processes(run)]


def _processes(run: RunView) -> list[str]:
    """Each process that trains, where there are several; first those that differ."""
    if len(run.processes) < 2:
        return []
    ordered = sorted(run.processes, key=lambda each: each.onset is None)
    shown = ordered if len(ordered) <= _MOST_PROCESSES else ordered[: _MOST_PROCESSES - 1]
    lines = [_process_words(each, run.phase) for each in shown]
    rest = [each.last.step for each in ordered[len(shown) :]]
    if rest:
        lines.append(f"{len(rest)} more: steps {min(rest)} to {max(rest)}")
    return lines


def _process_words(process: ProcessView, phase: Phase) -> str:
    words = f"{process.name or 'process 1'}: step {process.last.step}"
    if process.rate is not None:
        words += f", {process.rate:.3g} steps/s"
    if process.last.digests:
        words += f", {process.last.digests:,} digests"
    if phase is not Phase.COMPARED:
        return words
    if process.onset is not None:
        return f"{words}, differs since step {process.onset}"
    if not process.last.compared:
        return f"{words}, nothing compared yet"
    return f"{words}, equal so far"


def _digests(run: RunView) -> str:
    return f", {run.last.digests:,} digests" if run.last and run.last.digests else ""


def _compared(run: RunView) -> list[str]:
    if run.phase is not Phase.COMPARED or run.last is None:
        return []
    if not run.last.compared and run.onset is None:
        return ["nothing compared yet"]
    counted = f"{run.last.compared:,} digests of groups compared"
    if run.onset is not None:
        return [f"differs from run 1 since step {run.onset} ({counted})"]
    return [f"equal to run 1 so far ({counted})"]


def _bar(fraction: float) -> str:
    done = round(_BAR * fraction)
    return f"[{'#' * done}{'-' * (_BAR - done)}] {100 * fraction:.0f} %"


def _experiments(view: TwinsView, now: float, width: int) -> list[Text]:
    if view.bench is None:
        return []
    used = duration(now - view.bench.at)
    of = duration(view.bench.budget)
    lines = [
        Text(""),
        Text(
            f"Experiments: {used} of {of} used; {view.bench.repeats} equal pairs in a row prove it",
            "bold",
        ),
    ]
    for tried in view.experiments:
        lines += _experiment(tried, view, now, width)
    return lines


def _experiment(tried: ExperimentView, view: TwinsView, now: float, width: int) -> Sequence[Text]:
    if tried.words:
        return [Text(f"  {cut(f'{tried.began.shown}: {tried.words}', width - 2)}")]
    what = cut(f"{tried.began.shown}: {tried.began.meaning}", width - 2)
    lines = [Text(f"> {what}", "bold")]
    if view.trial is not None and view.trial.ended is None:
        words = f"{view.trial.began.title}: {run_words(view.trial, now)[0]}"
        lines.append(Text(f"    {cut(words, width - 4)}"))
    return lines


def duration(seconds: float) -> str:
    """Seconds as a person says them: ``41 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    names, size = (("min", "s"), 60) if whole < 3600 else (("h", "min"), 3600)
    rest = whole % size * 60 // size
    return f"{whole // size} {names[0]}" + (f" {rest} {names[1]}" if rest else "")
