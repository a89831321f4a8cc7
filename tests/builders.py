"""Diagnoses and their parts with plain values, for tests of what is made from them.

Each builder takes the fields that matter to a test; everything else has a value that a real
diagnosis could have.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bisect_debugger.causality.case import TrailStep
from bisect_debugger.causality.causes import Cause
from bisect_debugger.diagnosis.model import (
    Alternative,
    Compared,
    Control,
    Diagnosis,
    Excerpt,
    Experiment,
    FirstVisible,
    Isolation,
    Onset,
    Origin,
    PairVerdict,
    Reached,
    Repeats,
    RunSummary,
    Verdict,
    Zoom,
)
from bisect_debugger.format.groups import Group
from bisect_debugger.metrics import Difference, Side
from bisect_debugger.runs import RunFacts, SeedingCall
from bisect_debugger.twins.tally import ComponentTally, Exhaustive, Greatest


def difference(**fields: Any) -> Difference:
    """One of twelve float32 elements differs by 1e-3, unless said otherwise."""
    plain = Difference(
        dtype="float32",
        shape=(3, 4),
        elements=12,
        differing=1,
        rel_fro=4e-4,
        max_abs=1e-3,
        mean_abs=1e-3 / 12,
        max_ulp=8389,
        ulp_histogram=((8192, 16383, 1),),
        first_index=(1, 1),
        last_index=(1, 1),
        axis_ranges=((1, 1), (1, 1)),
        first_a=Side("1.5", "0x3fc00000"),
        first_b=Side("1.501", "0x3fc020c5"),
        nan_a=0,
        nan_b=0,
        inf_a=0,
        inf_b=0,
        negative_zero=0,
        implausible_a=0,
        implausible_b=0,
        sign_flipped_rows=0,
        rows=3,
        max_abs_index=(1, 1),
    )
    return replace(plain, **fields)


def trail_step(node: str, answer: str = "yes", **fields: str) -> TrailStep:
    """A question of the tree and its answer."""
    return TrailStep(
        question=fields.get("question", f"Is it {node}?"),
        evidence=fields.get("evidence", f"looked at {node}"),
        answer=answer,
        node=node,
    )


def origin(**fields: Any) -> Origin:
    """A head that computed something else in step 1, and reached the trunk at once."""
    plain = Origin(
        step=1,
        group=Group.FORWARD,
        component="net.head",
        buffer="net.head.out",
        event=8,
        cause=Cause.FORWARD_KERNEL,
        source="model.py:7",
        first_reached=Reached(1, "net.trunk", "net.trunk.out.grad", Group.GRAD_OUT),
        first_gradient=Reached(1, "net.trunk", "net.trunk.out.grad", Group.GRAD_OUT),
        contaminated=("net.trunk",),
        difference=difference(),
        evidence=("Equal inputs.", "Equal parameters.", "1 of 12 elements.", "It spread."),
        advice=("Fix the order.", "Use one thread.", "Look at the kernel."),
        confirm="Run it twice.",
        trail=(trail_step("presence"), trail_step("is-forward")),
    )
    return replace(plain, **fields)


def diagnosis(*origins: Origin, **fields: Any) -> Diagnosis:
    """A diverged pair of runs with these origins, by default a single one."""
    found = origins or (origin(),)
    first = found[0]
    plain = Diagnosis(
        verdict=Verdict.DIVERGED,
        sentence=f"Diverged. {len(found)} origin(s).",
        runs=(RunSummary("a.h5", 0, 3, 16, True), RunSummary("b.h5", 0, 3, 16, True)),
        compared=Compared(-1, 2, 16),
        onset=Onset(first.step, first.group, first.component, first.buffer, first.event),
        first_visible=FirstVisible(1, "loss"),
        origins=found,
        trail=(
            trail_step("complete"),
            trail_step("first-step", "step 1"),
            trail_step("origins", f"{len(found)}: ..."),
            *first.trail,
            trail_step("cause", first.cause.value),
        ),
        pairs=(PairVerdict("a.h5", "b.h5", Verdict.DIVERGED, first.step),),
    )
    return replace(plain, **fields)


def equal_diagnosis(**fields: Any) -> Diagnosis:
    """Bit-equal twins: everything that a divergence would fill is absent."""
    plain = Diagnosis(
        verdict=Verdict.BIT_EQUAL,
        sentence="Bit-equal.",
        runs=(RunSummary("a.h5", 0, 3, 16, True), RunSummary("b.h5", 0, 3, 16, True)),
        compared=Compared(-1, 2, 16),
        trail=(trail_step("complete"), trail_step("first-step", "none")),
        pairs=(PairVerdict("a.h5", "b.h5", Verdict.BIT_EQUAL, None),),
    )
    return replace(plain, **fields)


def full_diagnosis() -> Diagnosis:
    """A diagnosis in which nothing is absent."""
    excerpt = Excerpt(87, ("def forward(self, x):", "    return self.table.index_add_(0, i, x)"))
    zoom = Zoom("kernel", "aten::index_add_", "", "model.py:88", "net.head", "", 0, excerpt)
    known = origin(operator="aten::index_add_", location="model.py:88", proven=True, zoom=zoom)
    known = replace(known, alternatives=(Alternative(Cause.RNG_STREAM, "Does every element?"),))
    stream = replace(known, component="rng.python", group=Group.RNG, step=-1)
    return diagnosis(
        known,
        dormant_streams=(stream,),
        compared=Compared(-1, 2, 16, ("net.compiled",), 1, ("data",)),
        experiments=(Experiment(("hashseed",), 3, 2, (4,)),),
        isolation=Isolation(Repeats(20, 0), Repeats(20, 17), "net.head", script="repro/repro.py"),
        control=Control(True),
        remarks=("The environments differ in torch.",),
        exhaustive=exhaustive(),
    )


def exhaustive(**fields: Any) -> Exhaustive:
    """Of 16 events two differ, one of them with values."""
    head = ComponentTally(
        Group.FORWARD,
        "net.head",
        events=6,
        equal=4,
        differing=2,
        digest_only=1,
        elements=12,
        differing_elements=1,
        greatest=Greatest(1, "net.head.out", 8, difference()),
    )
    rest = ComponentTally(Group.PARAM, "net.head", events=10, equal=10)
    plain = Exhaustive(
        steps=4,
        differing_steps=2,
        steps_a=0,
        steps_b=0,
        beside=0,
        left_out=0,
        components=(rest, head),
    )
    return replace(plain, **fields)


def facts(
    environment: Mapping[str, str] | None = None,
    seeding: tuple[SeedingCall, ...] = (),
    path: str = "a.h5",
) -> RunFacts:
    """What a run says about itself."""
    return RunFacts(
        path=Path(path),
        rank=0,
        world_size=1,
        level="full",
        created="2026-11-30T06:00:00+00:00",
        window="",
        complete=True,
        end_reason="",
        environment=dict(environment or {}),
        seeding=seeding,
        uncovered=(),
    )
