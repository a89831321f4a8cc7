"""The diagnosis as strict JSON, the form that CI reads; docs/json.md describes every key."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from enum import Enum
from typing import Any

from bisect_debugger.diagnosis.model import DIAGNOSIS_VERSION, Diagnosis, Onset, Origin
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference
from bisect_debugger.twins.tally import Exhaustive, Greatest


def as_json(diagnosis: Diagnosis) -> str:
    """Indented JSON in ASCII; absent parts are null, NaN and Inf are strings."""
    return to_json(as_plain(diagnosis))


def to_json(plain: Mapping[str, Any]) -> str:
    """Indented JSON that every strict parser reads, whatever is in the names.

    ASCII, because a name may hold what the reader's encoding lacks, or half a character.
    """
    return json.dumps(_plain(plain), indent=2, allow_nan=False)


def as_plain(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as dicts, lists and scalars, keys in their documented order."""
    d = diagnosis
    plain = {
        "diagnosis_version": DIAGNOSIS_VERSION,
        "verdict": d.verdict,
        "sentence": d.sentence,
        "runs": [asdict(run) for run in d.runs],
        "compared": asdict(d.compared),
        "onset": _onset(d.onset) if d.onset else None,
        "first_visible": asdict(d.first_visible) if d.first_visible else None,
        "origins": [_origin(origin) for origin in d.origins],
        "dormant_streams": [_origin(origin) for origin in d.dormant_streams],
        "trail": [asdict(step) for step in d.trail],
        "experiments": [asdict(experiment) for experiment in d.experiments] or None,
        "isolation": asdict(d.isolation) if d.isolation else None,
        "pairs": [asdict(pair) for pair in d.pairs],
        "control": asdict(d.control) if d.control else None,
        "remarks": d.remarks,
        "exhaustive": _exhaustive(d.exhaustive) if d.exhaustive else None,
    }
    result: dict[str, Any] = _plain(plain)
    return result


def metrics_as_plain(difference: Difference) -> dict[str, Any]:
    """The numbers of one difference, under the names of `Difference`."""
    numbers = {entry.name: getattr(difference, entry.name) for entry in fields(difference)}
    sides = {"first_a": asdict(difference.first_a), "first_b": asdict(difference.first_b)}
    result: dict[str, Any] = _plain(numbers | sides)
    return result


def _onset(onset: Onset) -> dict[str, Any]:
    """At level coarse only step and group are known; the rest is null then."""
    known = bool(onset.buffer)
    return {
        "step": onset.step,
        "group": onset.group,
        "component": onset.component if known else None,
        "buffer": onset.buffer if known else None,
        "event": onset.event if known else None,
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "step": origin.step,
        "group": origin.group,
        "component": origin.component,
        "buffer": origin.buffer,
        "event": origin.event,
        "cause": origin.cause,
        "source": origin.source or None,
        "proven": origin.proven,
        "dormant": origin.dormant,
        "first_reached": asdict(origin.first_reached) if origin.first_reached else None,
        "first_gradient": asdict(origin.first_gradient) if origin.first_gradient else None,
        "contaminated": origin.contaminated,
        "operator": origin.operator or None,
        "location": origin.location or None,
        "metrics": metrics_as_plain(origin.difference) if origin.difference else None,
        "evidence": origin.evidence,
        "advice": origin.advice,
        "confirm": origin.confirm or None,
        "trail": [asdict(step) for step in origin.trail],
        "zoom": asdict(origin.zoom) if origin.zoom else None,
        "alternatives": [asdict(each) for each in origin.alternatives],
    }


def _exhaustive(everything: Exhaustive) -> dict[str, Any]:
    """Components that are equal throughout are in the totals alone."""
    counts = ("equal", "moved", "differing", "one_sided", "digest_only", "other_layout")
    return {
        "steps": everything.steps,
        "differing_steps": everything.differing_steps,
        "steps_only_a": everything.steps_a,
        "steps_only_b": everything.steps_b,
        "events": everything.events,
        **{name: everything.total(name) for name in (*counts, *_ELEMENTS)},
        "beside": everything.beside,
        "left_out": everything.left_out,
        "components": [
            {
                "group": tally.group,
                "component": tally.component,
                "events": tally.events,
                **{name: getattr(tally, name) for name in (*counts, *_ELEMENTS)},
                "greatest": _greatest(tally.greatest) if tally.greatest else None,
            }
            for tally in everything.components
            if tally.events > tally.equal
        ],
    }


_ELEMENTS = ("elements", "differing_elements")


def _greatest(greatest: Greatest) -> dict[str, Any]:
    return {
        "step": greatest.step,
        "buffer": greatest.buffer,
        "event": greatest.event,
        "metrics": metrics_as_plain(greatest.difference),
    }


def _plain(value: object) -> Any:
    """Groups as labels, enums as values, non-finite numbers as strings."""
    if isinstance(value, Group):
        return value.label
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return _NONFINITE.get(value, "NaN")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


_NONFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}
"""As JavaScript and Python's `float` both read them."""
