"""What more runs told about twins, kept beside them: proofs, experiments, operators, isolation.

A pair of recordings alone does not tell it again, so `twin` keeps it in one file in their folder;
whoever compares, opens or notes these two runs later is told as well. It is only believed of the
very runs that it was written for.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis.model import (
    Diagnosis,
    Excerpt,
    Experiment,
    Isolation,
    Origin,
    Repeats,
    Zoom,
)
from bisect_debugger.diagnosis.refinement import with_cause, with_origins
from bisect_debugger.diagnosis.refuted import without_refuted
from bisect_debugger.errors import printable
from bisect_debugger.runs import Run
from bisect_debugger.twins import Pair

NAME = "findings.json"
VERSION = 1
MOST_BYTES = 16 << 20
_LONGEST_TEXT = 4096
"""Most characters of a text, and most entries of a list."""
_HIGHEST = 1 << 63

T = TypeVar("T")
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
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
        "origins": [_kept(origin, _same(origin, plain)) for origin in diagnosis.origins],
        "remarks": _more(diagnosis.remarks, plain.remarks),
    }
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return path


def recalled(diagnosis: Diagnosis, pair: Pair) -> Diagnosis:
    """The diagnosis with what was kept about this very pair, if something was."""
    try:
        value = _read(pair.a.path)
        if value is None or value["runs"] != [_mark(pair.a), _mark(pair.b)]:
            return diagnosis
        return _merged(diagnosis, value)
    except _UNREADABLE:
        return replace(diagnosis, remarks=(*diagnosis.remarks, _DAMAGED.format(NAME)))


def experimented_on(pair: Pair) -> tuple[Path, Path] | None:
    """The other pair in the folder of this one that experiments were kept about, or None."""
    path = pair.a.path
    try:
        value = _read(path)
        if value is None or not _of(list, value["experiments"]):
            return None
        first, second = (_of(str, mark[0]) for mark in _of(list, value["runs"]))
        # Names alone, whatever stands there: nothing leads out of the folder.
        found = path.with_name(first), path.with_name(second)
    except _UNREADABLE:
        return None
    return None if found == (path, pair.b.path) else found


def _read(run: Path) -> dict[str, Any] | None:
    """What was kept beside a run, not looked at yet; None where nothing was."""
    path = run.with_name(NAME)
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        return None
    value: dict[str, Any] = json.loads(path.read_bytes())
    return value if value["version"] == VERSION else None


def _mark(run: Run) -> list[object]:
    """What tells a run from any other, also from a later one of the same name."""
    whole = run.running_digest(run.step_count - 1).hex() if run.step_count else ""
    created = run.facts.environment.get("created", "")
    return [run.path.name, created, run.event_count, whole]


def _same(origin: Origin, plain: Diagnosis) -> Origin | None:
    found = (one for one in plain.origins if _place(one) == _place(origin))
    return next(found, None)


def _place(origin: Origin) -> tuple[int, str, str]:
    return origin.step, origin.group.label, origin.buffer


def _more(all_lines: Sequence[str], plain: Sequence[str]) -> list[str]:
    return [line for line in all_lines if line not in plain]


def _kept(origin: Origin, plain: Origin | None) -> dict[str, Any]:
    return {
        "step": origin.step,
        "group": origin.group.label,
        "buffer": origin.buffer,
        "cause": origin.cause.value,
        "proven": origin.proven,
        "operator": origin.operator,
        "location": origin.location,
        "evidence": _more(origin.evidence, plain.evidence if plain else ()),
        "advice": _more(origin.advice, plain.advice if plain else ()),
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
    remarks = _both(_sentences(value["remarks"]), diagnosis.remarks)
    told = replace(
        with_origins(diagnosis, origins),
        experiments=tuple(_experiment(entry) for entry in _of(list, value["experiments"])),
        isolation=_isolation(value["isolation"]),
        remarks=remarks,
    )
    return without_refuted(told)


def _told(origin: Origin, entry: dict[str, Any]) -> Origin:
    cause = Cause(entry["cause"]) if "cause" in entry else origin.cause
    refined = with_cause(origin, cause, _sentences(entry["advice"]))
    return replace(
        refined,
        proven=_of(bool, entry["proven"]),
        operator=_of(str, entry["operator"]),
        location=_of(str, entry["location"]),
        evidence=_both(_sentences(entry["evidence"]), refined.evidence),
        advice=_both(_sentences(entry["advice"]), refined.advice),
        zoom=_zoom(entry["zoom"]),
    )


def _both(kept: Sequence[str], plain: Sequence[str]) -> tuple[str, ...]:
    """What was kept first, each line once."""
    return tuple(dict.fromkeys((*kept, *plain)))


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


def _sentences(value: object) -> tuple[str, ...]:
    """Lines that a terminal is shown as they stand: whoever wrote the file may be a stranger."""
    return tuple(printable(text, _LONGEST_TEXT) for text in _texts(value))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_of(str, text) for text in _of(list, value))


def _of(kind: type[T], value: object) -> T:
    # A bool is an int to Python and none here.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"not a {kind.__name__}")
    if isinstance(value, (str, list)) and len(value) > _LONGEST_TEXT:
        raise ValueError("too long")
    if isinstance(value, int) and abs(value) >= _HIGHEST:
        raise ValueError("too large")
    return value
