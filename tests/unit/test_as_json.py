"""The JSON: its shape key by key, strictness, and that docs/json.md names every key."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_debugger.diagnosis.as_json import as_json
from bisect_debugger.diagnosis.model import Diagnosis, Onset
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Side
from tests.builders import diagnosis, difference, equal_diagnosis, full_diagnosis, origin

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs/json.md").read_text(encoding="utf-8")

TRAIL = [{"question": str, "evidence": str, "answer": str, "node": str}]
REACHED = {"step": int, "component": str, "buffer": str, "group": str}
SIDE = {"decimal": str, "hex": str}
METRICS = {
    "dtype": str,
    "shape": [int],
    "elements": int,
    "differing": int,
    "rel_fro": float,
    "max_abs": float,
    "mean_abs": float,
    "max_ulp": int,
    "ulp_histogram": [[int]],
    "first_index": [int],
    "last_index": [int],
    "axis_ranges": [[int]],
    "first_a": SIDE,
    "first_b": SIDE,
    "nan_a": int,
    "nan_b": int,
    "inf_a": int,
    "inf_b": int,
    "negative_zero": int,
    "implausible_a": int,
    "implausible_b": int,
    "sign_flipped_rows": int,
    "rows": int,
    "max_abs_index": [int],
}
ORIGIN = {
    "step": int,
    "group": str,
    "component": str,
    "buffer": str,
    "event": int,
    "cause": str,
    "source": str,
    "proven": bool,
    "dormant": bool,
    "first_reached": REACHED,
    "first_gradient": REACHED,
    "contaminated": [str],
    "operator": str,
    "location": str,
    "metrics": METRICS,
    "evidence": [str],
    "advice": [str],
    "confirm": str,
    "trail": TRAIL,
    "zoom": {
        "found": str,
        "operator": str,
        "overload": str,
        "location": str,
        "module": str,
        "node": str,
        "number": int,
        "excerpt": {"first": int, "lines": [str]},
    },
    "alternatives": [{"cause": str, "why": str}],
}
TALLY = {
    "equal": int,
    "moved": int,
    "differing": int,
    "one_sided": int,
    "digest_only": int,
    "other_layout": int,
    "elements": int,
    "differing_elements": int,
}
GREATEST = {"step": int, "buffer": str, "event": int, "metrics": METRICS}
COMPONENT = {"group": str, "component": str, "events": int, **TALLY, "greatest": GREATEST}
EXHAUSTIVE = {
    "steps": int,
    "differing_steps": int,
    "steps_only_a": int,
    "steps_only_b": int,
    "events": int,
    **TALLY,
    "beside": int,
    "left_out": int,
    "components": [COMPONENT],
}
REPEATS = {"repeats": int, "different": int}
SCHEMA = {
    "diagnosis_version": int,
    "verdict": str,
    "sentence": str,
    "runs": [{"path": str, "rank": int, "steps": int, "events": int, "complete": bool}],
    "compared": {
        "first_step": int,
        "last_step": int,
        "events": int,
        "uncovered": [str],
        "window_start": int,
        "cleared": [str],
    },
    "onset": {"step": int, "group": str, "component": str, "buffer": str, "event": int},
    "first_visible": {"step": int, "buffer": str},
    "origins": [ORIGIN],
    "dormant_streams": [ORIGIN],
    "trail": TRAIL,
    "experiments": [
        {"knobs": [str], "pairs": int, "equal_pairs": int, "onset_steps": [int]},
    ],
    "isolation": {
        "forward": REPEATS,
        "backward": REPEATS,
        "component": str,
        "operator": str,
        "as_recorded": bool,
        "script": str,
    },
    "pairs": [{"a": str, "b": str, "verdict": str, "onset_step": int}],
    "control": {"seed_changes_the_run": bool},
    "remarks": [str],
    "exhaustive": EXHAUSTIVE,
}
NULL_WHEN_EQUAL = {"onset", "first_visible", "experiments", "isolation", "control", "exhaustive"}


def strictly(text: str) -> Any:
    """Parse JSON as a parser does that knows no NaN and no doubled key."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs), "a key stands twice"
        return dict(pairs)

    assert text.isascii()
    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def mismatches(value: object, schema: object, place: str = "$") -> Iterator[str]:
    """Where a value is not what the schema says; keys must stand in the schema's order."""
    if isinstance(schema, dict):
        if not isinstance(value, dict) or list(value) != list(schema):
            yield f"{place}: keys {list(value) if isinstance(value, dict) else value!r}"
            return
        for key, part in schema.items():
            yield from mismatches(value[key], part, f"{place}.{key}")
    elif isinstance(schema, list):
        if not isinstance(value, list) or not value:
            yield f"{place}: {value!r} is no filled list"
            return
        for number, item in enumerate(value):
            yield from mismatches(item, schema[0], f"{place}[{number}]")
    elif type(value) is not schema:
        yield f"{place}: {value!r} is no {schema}"


def test_a_full_diagnosis_has_every_key_in_its_type_and_order() -> None:
    assert list(mismatches(strictly(as_json(full_diagnosis())), SCHEMA)) == []


def test_the_check_of_the_schema_sees_what_is_wrong() -> None:
    good = strictly(as_json(full_diagnosis()))
    for key, wrong in (("verdict", 1), ("runs", []), ("onset", None), ("control", {})):
        assert [line.split(":")[0] for line in mismatches({**good, key: wrong}, SCHEMA)] == [
            f"$.{key}"
        ]
    assert list(mismatches(dict(reversed(good.items())), SCHEMA)) != []


def test_what_is_absent_is_null_and_lists_are_empty() -> None:
    plain = strictly(as_json(equal_diagnosis()))
    assert list(plain) == list(SCHEMA)
    assert {key for key, value in plain.items() if value is None} == NULL_WHEN_EQUAL
    assert (plain["origins"], plain["remarks"]) == ([], [])
    assert plain["pairs"] == [
        {"a": "a.h5", "b": "b.h5", "verdict": "bit-equal", "onset_step": None}
    ]


def test_absent_parts_of_an_origin_are_null() -> None:
    bare = origin(
        source="", first_reached=None, first_gradient=None, difference=None, confirm="", trail=()
    )
    plain = strictly(as_json(diagnosis(bare)))["origins"][0]
    assert list(plain) == list(ORIGIN)
    assert {key for key, value in plain.items() if value is None} == {
        *("source", "first_reached", "first_gradient", "operator", "location", "metrics"),
        *("confirm", "zoom"),
    }


def test_words_of_enums_are_those_of_the_glossary() -> None:
    plain = strictly(as_json(full_diagnosis()))
    assert plain["verdict"] == "diverged"
    assert plain["origins"][0]["cause"] == "forward-kernel"
    assert plain["origins"][0]["group"] == "forward"
    assert plain["origins"][0]["first_reached"]["group"] == "grad_out"
    assert plain["dormant_streams"][0]["group"] == "rng"


@pytest.mark.parametrize(
    ("number", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")]
)
def test_numbers_that_json_cannot_hold_are_strings(number: float, text: str) -> None:
    numbers = difference(rel_fro=number, max_abs=number, max_ulp=None, max_abs_index=None)
    plain = strictly(as_json(diagnosis(origin(difference=numbers))))["origins"][0]["metrics"]
    assert (plain["rel_fro"], plain["max_abs"]) == (text, text)
    assert (plain["max_ulp"], plain["max_abs_index"]) == (None, None)
    assert math.isnan(float(text)) or float(text) == number


def test_at_level_coarse_the_onset_has_no_buffer() -> None:
    onset = strictly(as_json(diagnosis(onset=Onset(1, Group.FORWARD, "", "", -1))))["onset"]
    assert onset == {
        "step": 1,
        "group": "forward",
        "component": None,
        "buffer": None,
        "event": None,
    }


def test_hostile_names_come_through_unchanged() -> None:
    name = 'a"\\\n\x00\u2028≠😀\udcff'
    sides = difference(first_a=Side(name, "0x0"))
    found = diagnosis(origin(component=name, evidence=(name,), difference=sides))
    plain = strictly(as_json(found))["origins"][0]
    assert plain["component"] == name
    assert plain["evidence"] == [name]
    assert plain["metrics"]["first_a"]["decimal"] == name


def _documented() -> set[str]:
    return {line.split("`")[1] for line in DOCUMENT.splitlines() if line.startswith("| `")}


def _paths(schema: object, place: str = "") -> Iterator[str]:
    if isinstance(schema, list):
        # A pair of numbers in a list is described with the list.
        yield from (
            _paths(schema[0], f"{place}[]") if isinstance(schema[0], dict) else [f"{place}[]"]
        )
    elif isinstance(schema, dict):
        if place:
            yield place
        for key, part in schema.items():
            yield from _paths(part, f"{place}.{key}" if place else key)
    else:
        yield place


def test_the_document_names_every_key_and_no_other() -> None:
    own = {"origins": [int], "dormant_streams": [int], "trail": [int]}
    greatest = {**GREATEST, "metrics": float}
    everything = {**EXHAUSTIVE, "components": [{**COMPONENT, "greatest": greatest}]}
    expected = set(_paths({**SCHEMA, **own, "exhaustive": everything}))
    shared: dict[str, object] = {
        **ORIGIN,
        "metrics": float,
        "trail": [int],
        "alternatives": [{"cause": str, "why": str}],
        "first_reached": int,
        "first_gradient": int,
    }
    expected |= set(_paths(shared))
    expected |= set(_paths({**METRICS, "first_a": str, "first_b": str}))
    assert _documented() == expected


def test_the_example_of_the_document_is_json_and_in_order() -> None:
    example = json.loads(DOCUMENT.split("```json\n")[1].split("```")[0])
    assert list(example) == [key for key in SCHEMA if key in example]
    assert set(SCHEMA) - set(example) == {
        "sentence",
        "dormant_streams",
        "remarks",
        "exhaustive",
    }
    (first,) = example["origins"]
    assert list(first) == [key for key in ORIGIN if key in first]


def test_a_real_diagnosis_of_every_kind_is_strict(tmp_path: Path) -> None:
    from bisect_debugger.diagnosis import diagnose
    from tests.runs import nudged, plain_steps, values, write_run

    broken = values(21)
    broken[0, 0] = math.inf
    a = write_run(tmp_path / "a.h5", plain_steps())
    found: list[Diagnosis] = [
        diagnose([a, write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))]),
        diagnose([a, write_run(tmp_path / "c.h5", plain_steps(s1_out=broken))]),
        diagnose([a, write_run(tmp_path / "d.h5", plain_steps())]),
    ]
    plain = [strictly(as_json(each)) for each in found]
    assert [each["verdict"] for each in plain] == ["diverged", "diverged", "bit-equal"]
    assert list(mismatches(plain[0]["origins"][0]["metrics"], METRICS)) == []
    assert plain[1]["origins"][0]["metrics"]["inf_b"] == 1
