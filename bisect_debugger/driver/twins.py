"""Twins: one command run several times, compared live, and once more for values.

First pass: every run records digests, and from the second on each is compared with the first as it
goes; it ends some steps after the first difference. Second pass: two runs again, up to that point,
which also keep the contents of the steps around it. A run that differs at another step than
before is evidence of a race, and is said.
"""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis, diagnose, diagnose_pair
from bisect_debugger.diagnosis.findings import keep
from bisect_debugger.diagnosis.model import Control, PairVerdict, Verdict
from bisect_debugger.driver.explaining import explained
from bisect_debugger.driver.folders import make_folder
from bisect_debugger.driver.isolation import IsolationBench, isolate
from bisect_debugger.driver.launch import check_command
from bisect_debugger.driver.narrator import Narrator
from bisect_debugger.driver.outcome import Recorded
from bisect_debugger.driver.plan import Plan, TwinResult, remarked
from bisect_debugger.driver.reporting import RunReport, Watch
from bisect_debugger.driver.session import Settings
from bisect_debugger.driver.told_run import run_told
from bisect_debugger.driver.zoom import (
    SHORT,
    elsewhere_words,
    is_met_again,
    moved_words,
    zoom_steps,
)
from bisect_debugger.errors import BisectError, UsageError, printable
from bisect_debugger.format.schema import THREAD_BESIDE
from bisect_debugger.format.words import step_words
from bisect_debugger.progress import Judging, Phase, Told, TwinsBegan
from bisect_debugger.runs import reads_checked
from bisect_debugger.twins import open_pair

MOST_RUNS = 26


def run_twins(plan: Plan, watch: Watch | None = None) -> TwinResult:
    """Run, compare, and run again for values.

    Args:
        plan: what to do.
        watch: who hears how it goes and may end it; narration on stderr by default.

    Raises:
        UsageError: the plan makes no sense, or nothing was recorded.
        TrainerFailed: the trainer ended with an error of its own.
        KeyboardInterrupt: it was interrupted; what was recorded stays.
    """
    if not 2 <= plan.runs <= MOST_RUNS:
        raise UsageError(f"{plan.runs} runs are no twins; ask for 2 to {MOST_RUNS}.")
    check_command(plan.command)
    if plan.control:
        check_command(plan.control)
    folder, watch = make_folder(plan.folder), watch or Watch(Narrator())
    try:
        with reads_checked(watch.stop.check):
            return _run_in(folder, plan, watch)
    finally:
        with contextlib.suppress(OSError):
            # Where nothing was recorded, nothing stays.
            folder.rmdir()


def _run_in(folder: Path, plan: Plan, watch: Watch) -> TwinResult:
    watch.listener(TwinsBegan(plan.command, folder, plan.runs))
    settings = Settings(
        out=folder / "a.h5",
        level=plan.level,
        include=plan.include,
        exclude=plan.exclude,
        max_steps=plan.max_steps,
        stop_after=plan.stop_after,
    )
    try:
        recorded, settings = _first_pass(plan, settings, watch)
        watch.listener(Judging("all steps of the runs"))
        result = _judge(recorded, folder, plan.tolerance)
    except KeyboardInterrupt:
        _tell_what_is_kept(folder, watch)
        raise
    _tell_of_races(result.diagnosis, plan.runs, watch)
    try:
        result = _deepened(plan, settings, result, recorded, watch)
        _keep(result, watch)
        return result
    except (KeyboardInterrupt, BisectError) as error:
        files = " ".join(printable(str(path)) for path in result.files)
        why = "a further run failed" if isinstance(error, BisectError) else "interrupted"
        watch.listener(Told(f"{why}; found so far: {result.diagnosis.sentence}"))
        watch.listener(Told(f"see it with: bisect-debugger compare {files}"))
        raise


def _tell_of_races(diagnosis: Diagnosis, runs: int, watch: Watch) -> None:
    """Equal twins with threads beside the training may be equal by luck."""
    beside = any(what.startswith(THREAD_BESIDE) for what in diagnosis.compared.uncovered)
    if beside and diagnosis.verdict is Verdict.BIT_EQUAL:
        watch.listener(
            Told(
                f"threads of the program ran beside the training: a race among them may show in "
                f"few runs only, so compare more than {runs} with --runs N"
            )
        )


def _keep(result: TwinResult, watch: Watch) -> None:
    """Let whoever opens these runs later be told what more runs told."""
    found = result.diagnosis
    if not (found.experiments or found.isolation is not None or result.has_remarks):
        return
    try:
        with open_pair(*result.files) as pair:
            keep(result.diagnosis, diagnose_pair(pair), pair)
    except OSError as error:
        watch.listener(Told(f"the findings cannot be kept ({error.strerror})"))


def _first_pass(plan: Plan, settings: Settings, watch: Watch) -> tuple[list[Recorded], Settings]:
    """All runs, each from the second on compared with the first, and settings that name it."""
    folder = settings.out.parent
    title = f"run 1 of {plan.runs}"
    report = RunReport(watch, title, Phase.RECORDED, plan.max_steps)
    recorded = [run_told(plan.command, settings, report)]
    settings = replace(settings, names=recorded[0].names)
    for number in range(1, plan.runs):
        out = folder / f"{chr(ord('a') + number)}.h5"
        compared = replace(settings, out=out, reference=folder / "a.h5")
        title = f"run {number + 1} of {plan.runs}"
        report = RunReport(watch, title, Phase.COMPARED, recorded[0].last_step + 1)
        recorded.append(run_told(plan.command, compared, report))
    return recorded, settings


def _tell_what_is_kept(folder: Path, watch: Watch) -> None:
    kept = sorted(printable(str(path)) for path in folder.glob("*.h5"))
    words = f"kept: {', '.join(kept)}" if kept else "nothing was recorded yet"
    opening = f"; see them with: bisect-debugger open {' '.join(kept)}" * (len(kept) > 1)
    watch.listener(Told(f"interrupted; {words}{opening}"))


def _deepened(
    plan: Plan,
    settings: Settings,
    result: TwinResult,
    recorded: Sequence[Recorded],
    watch: Watch,
) -> TwinResult:
    """What more runs tell: values, proof, and whether the seed matters."""
    if plan.second_pass and result.diagnosis.verdict is not Verdict.BIT_EQUAL:
        result = _with_values(plan, settings, result, watch)
    if plan.explain and result.diagnosis.verdict is Verdict.DIVERGED:
        slowest = max(run.seconds for run in recorded)
        result = explained(plan, settings, result, slowest, watch)
    if (plan.explain or plan.repro) and result.diagnosis.verdict is Verdict.DIVERGED:
        result = _isolated(plan, settings, result, watch)
    if plan.control:
        result = _controlled(plan, settings, result, recorded[0], watch)
    return result


def _judge(recorded: Sequence[Recorded], folder: Path, tolerance: float | None) -> TwinResult:
    """Compare all runs, rank by rank; the gravest and earliest difference speaks for all."""
    ranks = len(recorded[0].files)
    if any(len(run.files) != ranks for run in recorded):
        counts = ", ".join(str(len(run.files)) for run in recorded)
        raise UsageError(
            f"The runs had different numbers of training processes ({counts}), so they cannot be "
            "told apart rank by rank; the files are kept."
        )
    found: list[Diagnosis] = []
    for rank in range(ranks):
        found.append(diagnose([run.files[rank] for run in recorded], tolerance))
    pairs: list[PairVerdict] = [pair for diagnosis in found for pair in diagnosis.pairs]
    chosen = min(found, key=_gravest_and_first)
    files = (Path(chosen.runs[0].path), Path(chosen.runs[1].path))
    return TwinResult(replace(chosen, pairs=tuple(pairs)), folder, files)


def _gravest_and_first(diagnosis: Diagnosis) -> tuple[int, int, int]:
    """Of two that part in one step, what comes first in it: others had it by an all-reduce."""
    onset = diagnosis.onset
    place = (onset.step, int(onset.group)) if onset else (sys.maxsize, 0)
    return -diagnosis.verdict.gravity, *place


def _with_values(plan: Plan, settings: Settings, first: TwinResult, watch: Watch) -> TwinResult:
    """Run two more, which keep contents around the onset, and let them speak if they agree."""
    onset = first.diagnosis.onset
    if onset is None or plan.level == "coarse":
        return first
    end = max(onset.step, 0) + plan.stop_after + 1
    again = replace(
        settings,
        level="full",
        # An onset may move; of few steps all are kept.
        payload=(-1 if end <= SHORT else onset.step - 1, end),
        zoom=zoom_steps(first.diagnosis, end),
        max_steps=min(end, plan.max_steps or end),
    )
    recorded = []
    for number, name in enumerate(("a.values.h5", "b.values.h5"), 1):
        title = f"second pass, run {number} of 2"
        report = RunReport(watch, title, Phase.VALUES, again.max_steps)
        recorded.append(run_told(plan.command, replace(again, out=first.folder / name), report))
    watch.listener(Judging("the values of the second pass"))
    second = _judge(recorded, first.folder, plan.tolerance)
    now = second.diagnosis.onset
    seen = (second.diagnosis.verdict, now.step if now else None)
    first, second = replace(first, second_pass=seen), replace(second, second_pass=seen)
    if now is not None and now.step == onset.step:
        elsewhere = elsewhere_words(first.diagnosis, second.diagnosis)
        diagnosis = replace(second.diagnosis, pairs=first.diagnosis.pairs)
        second = replace(second, diagnosis=diagnosis)
        return remarked(second, elsewhere) if elsewhere else second
    moved = _moved(onset.step, second.diagnosis)
    if is_met_again(first.diagnosis, second.diagnosis):
        # Another time, and the same place: only the second holds what it looks like.
        diagnosis = replace(second.diagnosis, pairs=first.diagnosis.pairs)
        about = "What is said below is about the second pass."
        return remarked(replace(second, diagnosis=diagnosis), f"{moved} {about}")
    return remarked(first, f"{moved} {moved_words(second.diagnosis)}")


def _isolated(plan: Plan, settings: Settings, result: TwinResult, watch: Watch) -> TwinResult:
    """Execute the culprit alone, and keep the script that does."""

    def run(asked: Settings) -> Recorded:
        report = RunReport(watch, "isolation", Phase.ISOLATION, asked.max_steps)
        return run_told(plan.command, asked, report)

    def alone() -> RunReport:
        return RunReport(watch, "the culprit alone", Phase.ALONE)

    folder = plan.repro or result.folder / "repro"
    bench = IsolationBench(run, alone, settings, folder, result.folder)
    diagnosis = isolate(result.diagnosis, bench)
    if diagnosis.isolation is not None:
        script = printable(diagnosis.isolation.script, 1000)
        watch.listener(Told(f"the culprit is executed alone by: python {script}"))
    return replace(result, diagnosis=diagnosis)


def _moved(before: int, second: Diagnosis) -> str:
    where = step_words(before)
    now = second.onset.step if second.onset else None
    if now is None:
        end = step_words(second.compared.last_step)
        same = f"are bit-equal up to {end}"
        if second.verdict is not Verdict.BIT_EQUAL:
            same = f"have no such difference up to {end} ({second.verdict.value})"
        return (
            f"The onset did not come again: two more runs {same}, where the first pair diverged at "
            f"{where}. A race behaves so, and so does what depends on the hash "
            "seed or the clock: more runs (--runs) tell how often."
        )
    return (
        f"The onset moved: {where} in the first pass, {step_words(now)} in the second. A race "
        "behaves so, and so does what depends on the clock."
    )


def _controlled(
    plan: Plan, settings: Settings, result: TwinResult, first: Recorded, watch: Watch
) -> TwinResult:
    """Another seed must lead to another run, else equal twins prove nothing."""
    out = result.folder / "control.h5"
    compared = replace(settings, out=out, reference=result.folder / "a.h5")
    report = RunReport(watch, "control", Phase.CONTROL, first.last_step + 1)
    control = run_told(plan.control, compared, report)
    pairs = zip(first.files, control.files, strict=False)
    differs = any(diagnose(pair).verdict is Verdict.DIVERGED for pair in pairs)
    diagnosis = replace(result.diagnosis, control=Control(seed_changes_the_run=differs))
    result = replace(result, diagnosis=diagnosis)
    if differs:
        return result
    return remarked(
        result,
        "The control did not diverge: another seed changes nothing, so equal twins say nothing "
        "about seeding.",
    )
