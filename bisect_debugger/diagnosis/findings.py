"""What more runs told about twins, kept beside them: proofs, experiments, operators, isolation.

A pair of recordings alone does not tell it again, so `twin` keeps it in one file in their folder;
whoever compares, opens or notes these two runs later is told as well. It is only believed of the
very runs that it was written for.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis.model import (
    Alternative,
    Diagnosis,
    Excerpt,
    Experiment,
    Isolation,
    Origin,
    Repeats,
    Zoom,
)
from bisect_debugger.diagnosis.sentence import retold
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair

NAME = "findings.json"
VERSION = 2
MOST_BYTES = 16 << 20

T = TypeVar("T")
_DAMAGED = "What earlier runs told about these twins ({}) cannot be read, and is left out."


def keep(diagnosis: Diagnosis, plain: Diagnosis, pair: Pair) -> Path:
    """Write down what cannot be told from the recordings; returns the file.

    Args:
        diagnosis: with all that is known.
        plain: what the recordings alone tell.
        pair: the recordings.

    Raises:
        OSError: it cannot be written.
    """
    path = pair.a.path.with_name(NAME)
    value = {
        "version": VERSION,
        "runs": [_mark(pair.a), _mark(pair.b)],
        "experiments": [asdict(experiment) for experiment in diagnosis.experiments],
        "isolation": asdict(diagnosis.isolation) if diagnosis.isolation else None,
        "origins": [_kept(origin) for origin in diagnosis.origins],
        "remarks": [line for line in diagnosis.remarks if line not in plain.remarks],
    }
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return path


def recalled(diagnosis: Diagnosis, pair: Pair) -> Diagnosis:
    """The diagnosis with what was kept about this very pair, if something was."""
    path = pair.a.path.with_name(NAME)
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return diagnosis
        value = json.loads(path.read_bytes())
        if value["version"] != VERSION or value["runs"] != [_mark(pair.a), _mark(pair.b)]:
            return diagnosis
        return retold(_merged(diagnosis, value), diagnosis)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return replace(diagnosis, remarks=(*diagnosis.remarks, _DAMAGED.format(NAME)))


def _mark(run: Run) -> list[object]:
    """What tells a run from any other, also from a later one of the same name."""
    whole = run.running_digest(run.step_count - 1).hex() if run.step_count else ""
    created = run.facts.environment.get("created", "")
    return [run.path.name, created, run.event_count, whole]


def _place(origin: Origin) -> tuple[int, str, str]:
    return origin.step, origin.group.label, origin.buffer


def _kept(origin: Origin) -> dict[str, Any]:
    """All that a proof or a zoom may have changed about it: a proof also names the cause anew."""
    return {
        "step": origin.step,
        "group": origin.group.label,
        "buffer": origin.buffer,
        "cause": origin.cause.value,
        "proven": origin.proven,
        "operator": origin.operator,
        "location": origin.location,
        "evidence": origin.evidence,
        "advice": origin.advice,
        "confirm": origin.confirm,
        "alternatives": [asdict(alternative) for alternative in origin.alternatives],
        "zoom": asdict(origin.zoom) if origin.zoom else None,
    }


def _merged(diagnosis: Diagnosis, value: dict[str, Any]) -> Diagnosis:
    kept = {
        (_of(int, entry["step"]), _of(str, entry["group"]), _of(str, entry["buffer"])): entry
        for entry in _of(list, value["origins"])
    }
    origins = []
    for origin in diagnosis.origins:
        entry = kept.get(_place(origin))
        origins.append(origin if entry is None else _told(origin, entry))
    remarks = dict.fromkeys((*_texts(value["remarks"]), *diagnosis.remarks))
    return replace(
        diagnosis,
        origins=tuple(origins),
        experiments=tuple(_experiment(entry) for entry in _of(list, value["experiments"])),
        isolation=_isolation(value["isolation"]),
        remarks=tuple(remarks),
    )


def _told(origin: Origin, entry: dict[str, Any]) -> Origin:
    return replace(
        origin,
        cause=Cause(entry["cause"]),
        proven=_of(bool, entry["proven"]),
        operator=_of(str, entry["operator"]),
        location=_of(str, entry["location"]),
        evidence=_texts(entry["evidence"]),
        advice=_texts(entry["advice"]),
        confirm=_of(str, entry["confirm"]),
        alternatives=tuple(map(_alternative, _of(list, entry["alternatives"]))),
        zoom=_zoom(entry["zoom"]),
    )


def _alternative(entry: dict[str, Any]) -> Alternative:
    return Alternative(Cause(entry["cause"]), _of(str, entry["why"]))


def _zoom(entry: Any) -> Zoom | None:
    if entry is None:
        return None
    around = entry["excerpt"]
    excerpt = around and Excerpt(_of(int, around["first"]), _texts(around["lines"]))
    names = ("found", "operator", "overload", "location", "module", "node")
    texts = {name: _of(str, entry[name]) for name in names}
    return Zoom(**texts, number=_of(int, entry["number"]), excerpt=excerpt)


def _isolation(entry: Any) -> Isolation | None:
    if entry is None:
        return None
    return Isolation(
        forward=_repeats(entry["forward"]),
        backward=_repeats(entry["backward"]),
        component=_of(str, entry["component"]),
        operator=_of(str, entry["operator"]),
        as_recorded=_of(bool, entry["as_recorded"]),
        script=_of(str, entry["script"]),
    )


def _repeats(entry: Any) -> Repeats | None:
    if entry is None:
        return None
    return Repeats(_of(int, entry["repeats"]), _of(int, entry["different"]))


def _experiment(entry: dict[str, Any]) -> Experiment:
    onsets = tuple(_of(int, step) for step in _of(list, entry["onset_steps"]))
    counts = (_of(int, entry["pairs"]), _of(int, entry["equal_pairs"]))
    return Experiment(_texts(entry["knobs"]), *counts, onsets)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_of(str, text) for text in _of(list, value))


def _of(kind: type[T], value: object) -> T:
    # A bool is an int to Python and none here.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"not a {kind.__name__}")
    return value
