"""Experiments in `twin`: how far the runs go, which knobs can be turned, how long it may take."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis
from bisect_debugger.driver import addresses
from bisect_debugger.driver.bench import ALL_KNOBS, Bench
from bisect_debugger.driver.experiments import explain
from bisect_debugger.driver.luck import baseline_of
from bisect_debugger.driver.patience import Patience
from bisect_debugger.driver.plan import Plan, TwinResult
from bisect_debugger.driver.reporting import RunReport, Watch
from bisect_debugger.driver.session import Settings
from bisect_debugger.driver.told_run import run_told
from bisect_debugger.format.schema import INIT_STEP
from bisect_debugger.progress import ExperimentsBegan, Phase, Told


def explained(
    plan: Plan, settings: Settings, result: TwinResult, slowest: float, watch: Watch
) -> TwinResult:
    """Prove by experiment what the twins owe their difference to.

    Args:
        plan: what `twin` is asked to do.
        settings: of the runs so far.
        result: twins that diverged.
        slowest: seconds of the slowest run so far.
        watch: hears how it goes.
    """
    onset = result.diagnosis.onset
    if onset is None and not result.diagnosis.origins:
        return result
    last = result.diagnosis.compared.last_step
    baseline = baseline_of(result.diagnosis.pairs, plan.runs, result.second_pass, last)
    onsets = baseline.told.onset_steps
    # Without a difference in common it is the ends that have to be equal.
    steps = steps_past(onsets, plan.stop_after) if onset else plan.max_steps

    def run(out: Path, knobs: tuple[str, ...]) -> Sequence[Path]:
        asked = replace(settings, out=out, max_steps=steps, knobs=knobs)
        pair = f"pair {out.stem.removeprefix('pair')} of {bench.repeats}"
        title = pair if out.stem.startswith("pair") else "first run"
        report = RunReport(watch, title, Phase.EXPERIMENT, steps)
        patience = Patience.beginning_now(bench.deadline, slowest)
        return run_told(plan.command, asked, report, patience).files

    began = ExperimentsBegan(plan.budget, baseline.repeats, time.monotonic())
    watch.listener(began)
    bench = Bench(
        run,
        folder=result.folder / "experiments",
        steps=steps,
        reaches=_has_to_reach(result.diagnosis, onsets),
        repeats=began.repeats,
        deadline=began.at + began.budget,
        told=watch.listener,
        knobs=_that_can_be_turned(watch),
        began=began,
    )
    return replace(result, diagnosis=explain(result.diagnosis, bench, baseline))


def _has_to_reach(diagnosis: Diagnosis, onsets: Sequence[int]) -> int:
    """The last closed step that equal runs need to have in common, so that they prove something."""
    if diagnosis.onset is None:
        return INIT_STEP
    # What diverged behind the last step bears the number of a step that no run closes.
    behind = diagnosis.onset.step >= max(run.steps for run in diagnosis.runs)
    return max(onsets) - behind


def steps_past(onsets: Sequence[int], stop_after: int) -> int:
    """Steps that take a run past where twins diverged.

    As far past the latest onset as the onsets lie apart: the next may well be later.

    Args:
        onsets: steps in which pairs without a knob diverged, at least one.
        stop_after: steps that are wanted past the onset.
    """
    latest = max(onsets)
    return max(latest, 0) + max(stop_after, latest - min(onsets)) + 1


def _that_can_be_turned(watch: Watch) -> tuple[str, ...]:
    refusal = addresses.why_not()
    if not refusal:
        return ALL_KNOBS
    watch.listener(Told(f"the knob {addresses.KNOB} is left out: {refusal}"))
    return tuple(name for name in ALL_KNOBS if name != addresses.KNOB)
