"""Isolation in `twin`: one more run takes the culprit down, and its script runs by itself.

The script that a person gets is the one that is run here, in a process of its own and with the
Python of the trainer, so that what it prints is what is reported.
"""

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bisect_debugger.diagnosis.model import Diagnosis, Isolation, Origin, Repeats
from bisect_debugger.driver.launch import run_command
from bisect_debugger.driver.outcome import Recorded
from bisect_debugger.driver.reporting import RunReport
from bisect_debugger.driver.session import Settings
from bisect_debugger.errors import BisectError, printable
from bisect_debugger.format.groups import Group

REPEATS = 20
_SECONDS = 600.0
_BACKWARD = (Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD)
_FORWARD = (Group.FORWARD, Group.LOSS)
_KEEPS_STATE = (
    "executed alone, it returns something else at each call, and the very same sequence in every "
    "process: it keeps state outside its module, such as a count or a generator of a file's"
)
_FROM_OUTSIDE = "what differs came in from outside, and no operator or module computed it"


@dataclass(frozen=True, slots=True)
class Target:
    """What is taken out.

    Attributes:
        asked: as the session tells it to the trainer's process, without the folder.
        component: the module, or the line of the operator.
        operator: the operator, or empty for a module.
    """

    asked: dict[str, object]
    component: str
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it: an isolation, or why there is none."""

    isolation: Isolation | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IsolationBench:
    """Where the culprit is taken out.

    Attributes:
        run: runs the trainer once under settings.
        alone: begins telling about a process that executes the culprit alone.
        settings: of the runs so far.
        folder: new folder for the script and its inputs.
        scratch: folder for a run that is removed again.
    """

    run: Callable[[Settings], Recorded]
    alone: Callable[[], RunReport]
    settings: Settings
    folder: Path
    scratch: Path


def isolate(diagnosis: Diagnosis, bench: IsolationBench) -> Diagnosis:
    """Take the culprit out, execute it again and again, and say what came of it.

    Args:
        diagnosis: of twins that diverged.
        bench: where that is done.
    """
    origin = next((o for o in map(_computed, diagnosis.origins) if o is not None), None)
    if origin is None:
        return diagnosis
    reasons = []
    for target in targets_of(origin):
        tried = _tried(target, bench)
        if tried.isolation is not None:
            return replace(diagnosis, isolation=tried.isolation)
        reasons.append(tried.reason)
    why = "; ".join(dict.fromkeys(reasons)) or _FROM_OUTSIDE
    return replace(diagnosis, remarks=(f"Not isolated: {why}.", *diagnosis.remarks))


def _computed(origin: Origin) -> Origin | None:
    """The origin where something was computed, or None; of a generator, where it was drawn for."""
    reached = origin.first_reached
    if origin.group is Group.RNG and reached is not None:
        origin = replace(
            origin,
            step=reached.step,
            group=reached.group,
            component=reached.component,
            buffer=reached.buffer,
        )
    return origin if origin.group in (*_FORWARD, *_BACKWARD) else None


def targets_of(origin: Origin) -> list[Target]:
    """What may be taken out for an origin, the best first."""
    zoom = origin.zoom
    found = []
    module = _module_of(origin)
    if module:
        asked: dict[str, object] = {
            "component": module,
            "step": max(origin.step, 0),
            "init": origin.step < 0,
            "occurrence": origin.occurrence if origin.group is Group.FORWARD else 0,
        }
        found.append(Target(asked, module))
    if zoom is not None and zoom.found == "kernel":
        asked = {
            "operator": zoom.operator,
            "overload": zoom.overload,
            "line": zoom.location,
            "number": zoom.number,
            "step": max(origin.step, 0),
        }
        found.append(Target(asked, zoom.location, zoom.operator))
    return found


def _module_of(origin: Origin) -> str:
    """Path of the innermost module that computed the content, or empty."""
    inside = origin.zoom.module if origin.zoom is not None else ""
    if origin.group is Group.FORWARD and _is_output(origin):
        return origin.component
    if origin.group is Group.GRAD_SCRATCH:
        return origin.component
    if origin.group in (Group.FORWARD, Group.GRAD_OUT):
        # Computed by what stands behind, or before, the module that it is called by.
        return inside or origin.component.rpartition(".")[0]
    return ""


def _is_output(origin: Origin) -> bool:
    return origin.buffer.removeprefix(f"{origin.component}.").startswith("out")


def _tried(target: Target, bench: IsolationBench) -> Tried:
    asked = {**target.asked, "folder": str(bench.folder.absolute())}
    settings = replace(
        bench.settings,
        out=bench.scratch / "isolated.h5",
        level="digest",
        reference=None,
        max_steps=int(str(asked["step"])) + 1,
        isolate=asked,
    )
    try:
        recorded = bench.run(settings)
    except BisectError as error:
        return Tried(None, f"the run for it failed ({str(error).splitlines()[0]})")
    for path in recorded.files:
        path.unlink(missing_ok=True)
    if not recorded.isolated_by:
        return Tried(None, printable(recorded.not_isolated, 400) or "nothing was taken down")
    return _executed(target, recorded.isolated_by, bench)


def _executed(target: Target, python: str, bench: IsolationBench) -> Tried:
    told = _told_by(python, bench.folder, bench.alone())
    if isinstance(told, str):
        return Tried(None, told)
    forward, backward = _repeats(told.get("forward")), _repeats(told.get("backward"))
    isolation = Isolation(
        forward=forward,
        backward=backward,
        component=target.component,
        operator=target.operator,
        as_recorded=bool(told.get("as_recorded")),
        script=str(bench.folder / "repro.py"),
    )
    if isolation.is_reproduced:
        # Repeats share a process: what counts its calls there differs without any chance.
        again = _told_by(python, bench.folder, bench.alone())
        if isinstance(again, dict) and again.get("contents") == told.get("contents"):
            return Tried(None, _KEEPS_STATE)
    return Tried(isolation)


def _told_by(python: str, folder: Path, report: RunReport) -> dict[str, Any] | str:
    """What the script tells in a process of its own, or a clause that says why it does not.

    Raises:
        KeyboardInterrupt: it was interrupted; it has ended.
    """
    with tempfile.TemporaryDirectory() as beside:
        # Not its output: the culprit may print anything, also what looks like counts.
        answer = Path(beside) / "told.json"
        options = ("--repeats", str(REPEATS), "--json", str(answer))
        deadline = time.monotonic() + _SECONDS

        def tick() -> None:
            report.take([])
            if time.monotonic() > deadline:
                raise TimeoutError

        # Repeats of one process have one order of sets; so have both processes.
        environment = {"PYTHONHASHSEED": "0", **os.environ}
        command = [python, str(folder / "repro.py"), *options]
        words = "ended before it told anything"
        try:
            # As a trainer is run: it ends with this command, however that ends.
            done = run_command(command, environment, report.output, tick, report.stop)
            words = done.words
        except (BisectError, TimeoutError) as error:
            return f"its script does not run ({type(error).__name__})"
        finally:
            report.end(words)
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(answer.read_bytes())
            if isinstance(found, dict):
                return found
    last = done.last_lines[-1] if done.last_lines else f"{done.words}, and it told nothing"
    return f"its script failed ({printable(last, 300)})"


def _repeats(told: Any) -> Repeats | None:
    return None if told is None else Repeats(int(told["repeats"]), int(told["different"]))
