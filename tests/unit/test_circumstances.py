"""Looks at the circumstances: what was brought back, who was there beside, what was drawn."""

from dataclasses import replace

import pytest

from bisect_debugger.causality.case import Answer, Case
from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.conclusion import conclude
from bisect_debugger.causality.looks import LOOKS
from bisect_debugger.format.groups import Group
from bisect_debugger.format.layouts import Layout
from bisect_debugger.format.schema import OPTIMIZER_LOADED, THREAD_BESIDE, EventFlag
from bisect_debugger.runs import RunFacts, SeedingCall
from tests.unit.test_tree import FACTS, INIT, case, difference, row

SEEN = replace(FACTS, environment={"recorded_by": "command"})
LOADED = SeedingCall("torch.load", "last.pt", "train.py:8", -1)
RESTORED = SeedingCall(OPTIMIZER_LOADED, "", "train.py:9", -1)
BESIDE = replace(SEEN, uncovered=(f"{THREAD_BESIDE}Thread-N (feed)",))
UNSEEDED = SeedingCall("numpy.random.default_rng", "entropy", "train.py:3", -1)
STREAM = row(Group.RNG, role="init", step=-1)


def between(evidence: Case, a: RunFacts, b: RunFacts | None = None) -> Case:
    return replace(evidence, facts_a=a, facts_b=b or a)


def cause(evidence: Case) -> Cause:
    return conclude(evidence).leaf.cause


def named(component: str, evidence: Case) -> Case:
    return replace(evidence, row=replace(evidence.row, component=component))


def test_a_checkpoint_that_one_run_alone_loaded_explains_whatever_differs() -> None:
    loaded = replace(SEEN, loads=(LOADED,))
    assert cause(between(case(INIT), SEEN, loaded)) is Cause.RESUME_STATE
    assert cause(between(case(INIT), loaded, loaded)) is Cause.UNSEEDED_INIT


def test_where_all_begins_otherwise_a_checkpoint_that_was_loaded_is_at_fault() -> None:
    all_of_it = replace(case(INIT), siblings_equal=0, siblings_different=4)
    assert cause(between(all_of_it, replace(SEEN, loads=(LOADED,)))) is Cause.RESUME_STATE
    assert cause(between(all_of_it, SEEN)) is Cause.SEED_NOT_APPLIED


def test_what_is_loaded_later_explains_nothing_before() -> None:
    late = replace(SEEN, loads=(replace(LOADED, step=7),))
    assert cause(between(case(INIT), SEEN, late)) is Cause.UNSEEDED_INIT


def test_a_stream_without_a_seed_after_a_restore_was_lost() -> None:
    restored = replace(SEEN, loads=(LOADED, RESTORED))
    seeded = replace(
        restored, seeding=(SeedingCall("torch.manual_seed", "entropy", "train.py:3", -1),)
    )
    stream = named("rng.torch_cpu", case(STREAM))
    assert cause(between(stream, restored)) is Cause.RESUME_STATE
    assert cause(between(stream, seeded)) is Cause.SEED_NOT_APPLIED
    assert cause(between(stream, replace(SEEN, loads=(LOADED,)))) is Cause.SEED_NOT_APPLIED


@pytest.mark.parametrize("call", ["torch.manual_seed", "torch.cuda.manual_seed_all"])
def test_what_seeds_torch_seeds_its_devices(call: str) -> None:
    stream = named("rng.torch_cuda:0", case(STREAM))
    seeded = SeedingCall(call, "3", "train.py:3", -1)
    restored = replace(SEEN, loads=(RESTORED,), seeding=(seeded,))
    other = replace(restored, seeding=(replace(seeded, argument="4"),))
    assert cause(between(stream, replace(restored, seeding=()))) is Cause.RESUME_STATE
    assert conclude(between(stream, restored, other)).leaf.variant == "seeded-otherwise"
    assert cause(between(stream, restored)) is Cause.RNG_STREAM


def test_a_stream_is_not_seeded_by_a_call_that_comes_later() -> None:
    stream = named("rng.python", case(STREAM))
    late = replace(SEEN, seeding=(SeedingCall("random.seed", "3", "train.py:3", 5),))
    assert cause(between(stream, late)) is Cause.SEED_NOT_APPLIED
    assert cause(between(stream, replace(late, loads=(RESTORED,)))) is Cause.RESUME_STATE


def test_a_stream_that_each_run_seeds_with_another_number_is_told_so() -> None:
    def seeded(*numbers: str) -> RunFacts:
        calls = (SeedingCall("torch.Generator.seed", each, "net.py:7", -1) for each in numbers)
        return replace(SEEN, seeding=tuple(calls))

    stream = named("rng.Generator.seed[net.py:7]", case(STREAM))
    leaf = conclude(between(stream, seeded("31"), seeded("47"))).leaf
    assert (leaf.cause, leaf.variant) == (Cause.SEED_NOT_APPLIED, "seeded-otherwise")
    for other in (seeded("entropy"), seeded("31", "47"), SEEN):
        leaf = conclude(between(stream, seeded("31"), other)).leaf
        assert (leaf.cause, leaf.variant) == (Cause.SEED_NOT_APPLIED, "")


def test_a_stream_that_a_larger_batch_drew_more_from_is_decided_elsewhere() -> None:
    stream = row(Group.RNG, role="start", step=3)
    larger = row(Group.DATA, step=3, layout_b=Layout("float32", (6,)))
    for batch, expected in ((larger, Cause.CONTROL_FLOW), (row(Group.DATA), Cause.RNG_STREAM)):
        leaf = conclude(replace(case(stream, batch), first_step=-1)).leaf
        assert leaf.cause is expected
        assert leaf.variant == ("drawn-more" if batch is larger else "drawn-otherwise")


def test_a_value_found_changed_after_a_restore_was_restored() -> None:
    changed = case(row(Group.PARAM, step=25, flags=EventFlag.OUTSIDE_STEP))
    restored = replace(SEEN, loads=(replace(RESTORED, step=24),))
    assert cause(between(changed, restored)) is Cause.RESUME_STATE
    assert cause(between(changed, SEEN)) is Cause.ASYNC_UPDATE


def test_what_is_computed_after_a_restore_within_the_step_is_owed_to_it() -> None:
    output = case(row(Group.FORWARD, step=25))
    assert cause(between(output, replace(SEEN, loads=(replace(RESTORED, step=25),)))) is (
        Cause.RESUME_STATE
    )
    assert cause(between(output, replace(SEEN, loads=(RESTORED,)))) is Cause.FORWARD_KERNEL


def test_a_stream_that_was_seeded_alike_was_drawn_from_by_threads() -> None:
    stream = named("rng.python", case(STREAM))
    seeded = replace(BESIDE, seeding=(SeedingCall("random.seed", "3", "train.py:3", -1),))
    other = replace(seeded, seeding=(SeedingCall("random.seed", "4", "train.py:3", -1),))
    assert cause(between(stream, seeded)) is Cause.PREFETCH_INTERLEAVING
    assert cause(between(stream, replace(seeded, uncovered=()))) is Cause.RNG_STREAM
    assert cause(between(stream, seeded, other)) is Cause.SEED_NOT_APPLIED


@pytest.mark.parametrize(
    ("drawn", "facts", "expected"),
    [
        (("rng.numpy",), BESIDE, Cause.ASYNC_UPDATE),
        ((), BESIDE, Cause.PREFETCH_INTERLEAVING),
        ((), SEEN, Cause.CONTROL_FLOW),
        (("rng.numpy",), SEEN, Cause.ASYNC_UPDATE),
        ((), FACTS, Cause.PREFETCH_INTERLEAVING),
    ],
)
def test_a_batch_beside_threads(drawn: tuple[str, ...], facts: RunFacts, expected: Cause) -> None:
    batch = replace(case(row(Group.DATA, role="in[0]", step=3)), first_step=0, drawn_for=drawn)
    assert cause(between(batch, facts)) is expected


@pytest.mark.parametrize(
    ("drawn", "facts", "expected"),
    [
        (("rng.numpy",), BESIDE, Cause.PREFETCH_INTERLEAVING),
        ((), BESIDE, Cause.RNG_STREAM),
        (("rng.numpy",), SEEN, Cause.RNG_STREAM),
        (("rng.numpy",), replace(BESIDE, seeding=(UNSEEDED,)), Cause.RNG_STREAM),
    ],
)
def test_a_first_batch_beside_threads(
    drawn: tuple[str, ...], facts: RunFacts, expected: Cause
) -> None:
    batch = replace(case(row(Group.DATA, role="in[0]")), drawn_for=drawn)
    assert cause(between(batch, facts)) is expected


@pytest.mark.parametrize(
    ("drawn", "facts", "expected"),
    [
        (("rng.random",), BESIDE, Cause.PREFETCH_INTERLEAVING),
        ((), BESIDE, Cause.DATA_ORDER),
        (("rng.random",), SEEN, Cause.DATA_ORDER),
    ],
)
def test_the_same_samples_in_other_turns_of_threads(
    drawn: tuple[str, ...], facts: RunFacts, expected: Cause
) -> None:
    batch = replace(case(row(Group.DATA)), rearranged="2 of 3 batches", drawn_for=drawn)
    assert cause(between(batch, facts)) is expected
    ahead = replace(batch, rearranged="", shifted="the second run is one batch ahead")
    assert (cause(between(ahead, facts)) is Cause.CONTROL_FLOW) == (facts is SEEN)


def test_the_same_samples_elsewhere_are_an_order() -> None:
    batch = replace(case(row(Group.DATA, role="in[0]")), rearranged="40 of 40 entries")
    indices = replace(case(row(Group.DATA, role="indices")), rearranged="40 of 40 entries")
    assert cause(batch) is Cause.DATA_ORDER
    assert cause(indices) is Cause.SAMPLER_ORDER


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("torch.nn.modules.linear.Linear", Cause.ASYNC_UPDATE),
        ("torch.nn.modules.dropout.Dropout", Cause.RNG_STREAM),
        ("torch.nn.modules.activation.RReLU", Cause.RNG_STREAM),
        ("train.Linear", Cause.RNG_STREAM),
        ("", Cause.RNG_STREAM),
    ],
)
def test_what_draws_nothing_has_no_generator(kind: str, expected: Cause) -> None:
    numbers = replace(difference(1.2), differing=4)
    assert cause(replace(case(row(Group.FORWARD)), difference=numbers, kind=kind)) is expected


def test_calls_in_another_order_are_control_flow() -> None:
    first = row(Group.FORWARD)
    assert first.a is not None
    assert first.b is not None
    swapped = replace(first, occurrence=1, a=first.b, b=first.a)
    other = replace(first, occurrence=1, b=replace(first.b, digest=(9, 9)))
    assert cause(case(first, swapped)) is Cause.CONTROL_FLOW
    assert cause(case(first, other)) is Cause.FORWARD_KERNEL


def test_a_recording_by_hand_does_not_tell_what_was_brought_back() -> None:
    found = LOOKS["loaded_just_before"](case(row(Group.PARAM, flags=EventFlag.OUTSIDE_STEP)))
    assert found.answer is Answer.NOT_RECORDED


def test_a_judgement_that_may_be_otherwise_is_told_with_its_evidence() -> None:
    numbers = replace(difference(1.2), differing=4)
    told = conclude(replace(case(row(Group.FORWARD)), difference=numbers))
    assert told.leaf.cause is Cause.RNG_STREAM
    assert told.alternatives[0].cause is Cause.FORWARD_KERNEL
    assert "4 of 4 elements differ" in told.alternatives[0].why
    assert len({each.cause for each in told.alternatives}) == len(told.alternatives) <= 2


def test_a_question_of_fact_leaves_no_alternative() -> None:
    assert conclude(case(row(Group.SIMULATOR))).alternatives == ()
