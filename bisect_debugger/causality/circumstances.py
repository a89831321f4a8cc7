"""Looks at the circumstances of the runs: checkpoints, threads beside the training, samples."""

from bisect_debugger.causality.case import Answer, Case, Finding
from bisect_debugger.causality.constants import is_constant
from bisect_debugger.causality.looks import answered, look
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, OPTIMIZER_LOADED, THREAD_BESIDE, EventFlag
from bisect_debugger.format.words import step_words
from bisect_debugger.runs import RunFacts, SeedingCall

ENTROPY = "entropy"
"""The argument of a seeding call that takes its seed from the system."""

_TORCH_SEEDERS = ("torch.manual_seed", "torch.seed")
_SEEDERS = {
    "rng.python": ("random.seed",),
    "rng.numpy": ("numpy.random.seed",),
    "rng.torch_cpu": _TORCH_SEEDERS,
}
_ON_CUDA = "rng.torch_cuda"
_CUDA_SEEDERS = (
    *_TORCH_SEEDERS,
    *(f"torch.cuda.{call}" for call in ("manual_seed", "manual_seed_all", "seed", "seed_all")),
)

_COMPUTING = frozenset(
    f"torch.nn.modules.{home}"
    for home in (
        *("activation", "batchnorm", "conv", "distance", "flatten", "fold", "instancenorm"),
        *("linear", "normalization", "padding", "pixelshuffle", "pooling", "sparse", "upsampling"),
    )
)
_BACKWARD = frozenset((Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD))

_PART = 0.75
"""Share of differing elements up to which a draw is no explanation."""

_DRAWING = frozenset(("RReLU", "MultiheadAttention", "FractionalMaxPool2d", "FractionalMaxPool3d"))
"""What of these draws all the same."""


@look
def one_run_loaded(case: Case) -> Finding:
    """A line of the program brought a saved state back in one run, and not in the other.

    Lines and not calls are counted: a data set may load a file for each sample.
    """
    first, second = (
        {(call.call, call.location) for call in _loads_until(facts, case.row.step)}
        for facts in (case.facts_a, case.facts_b)
    )
    alone = sorted(first ^ second)
    if not alone:
        return answered(False, f"{len(first)} lines brought a saved state back in both runs")
    call, location = alone[0]
    which = "first" if alone[0] in first else "second"
    return answered(True, f"{call} at {printable(location)} in the {which} run alone")


@look
def loaded_just_before(case: Case) -> Finding:
    """A saved state was brought back since the last step."""
    last = max(case.row.step - 1, INIT_STEP)
    if case.facts_a.environment.get("recorded_by") != "command":
        return Finding(Answer.NOT_RECORDED, "what is brought back is seen from outside only")
    for facts in (case.facts_a, case.facts_b):
        for call in _loads_until(facts, case.row.step):
            if call.step >= last:
                where = printable(call.location)
                return answered(True, f"{call.call} at {where}, in {step_words(call.step)}")
    return answered(False, "no saved state was brought back since the last step")


@look
def loaded_in_this_step(case: Case) -> Finding:
    """A saved state was brought back during training, in the step of the origin."""
    for facts in (case.facts_a, case.facts_b):
        for call in facts.loads:
            if call.step == case.row.step > INIT_STEP:
                return answered(True, f"{call.call} at {printable(call.location)}")
    return answered(False, "no saved state was brought back in this step")


@look
def seeded_alike(case: Case) -> Finding:
    """The last call that seeded the stream gave it the same number in both runs."""
    calls = [_seedings_until(facts, case) for facts in (case.facts_a, case.facts_b)]
    if not all(calls):
        return answered(False, "no call was seen to seed it")
    given = [each[-1].argument for each in calls]
    alike = given[0] == given[1] != ENTROPY
    return answered(alike, f"seeded with {printable(given[0])} and {printable(given[1])}")


@look
def seeded_otherwise(case: Case) -> Finding:
    """Calls that seeded the stream gave it numbers that the other run never gave it."""
    given = [
        {call.argument for call in _seedings_until(facts, case)}
        for facts in (case.facts_a, case.facts_b)
    ]
    alone = [sorted(mine - yours - {ENTROPY}) for mine, yours in (given, reversed(given))]
    if not all(alone):
        return answered(False, "no call was seen to seed it with another number")
    return answered(True, f"seeded with {printable(alone[0][0])} and {printable(alone[1][0])}")


@look
def fed_in_another_size(case: Case) -> Finding:
    """A batch or a sample of the step whose shape differs between the runs."""
    for row in case.step_rows:
        if row.group in (Group.DATA, Group.REPLAY) and row.a and row.b:
            one, other = row.a.layout, row.b.layout
            if one.shape != other.shape:
                return answered(True, f"{row.name}: {one.text} against {other.text}")
    return answered(False, "nothing entered the model in another shape")


@look
def drawn_equally(case: Case) -> Finding:
    """An equal stream was drawn from between the end of the last step and this event."""
    drawn = ", ".join(case.drawn_for)
    return answered(bool(drawn), f"drawn from and equal: {drawn or 'none'}")


@look
def resumed_without_the_stream(case: Case) -> Finding:
    """Training went on from a checkpoint, and nobody seeded this stream."""
    resumed = [
        call
        for facts in (case.facts_a, case.facts_b)
        for call in _loads_until(facts, case.row.step)
        if call.call == OPTIMIZER_LOADED
    ]
    if not resumed:
        return answered(False, "no optimizer state was brought back by then")
    seeded = any(_seedings_until(facts, case) for facts in (case.facts_a, case.facts_b))
    return answered(
        not seeded,
        f"{resumed[0].call} at {printable(resumed[0].location)}; the stream was "
        f"{'seeded' if seeded else 'not seeded'}",
    )


@look
def several_threads(case: Case) -> Finding:
    """Threads of the program were there beside the one that trains."""
    # The threads of the autograd engine, which every backward on a device has, are none of these.
    aside = (row for row in case.step_rows if EventFlag.BACKGROUND in row.flags)
    recorded = {row.any_side.thread for row in aside}
    beside = threads_beside(case)
    words = f"{1 + len(recorded)} thread(s) recorded events in this step"
    if beside:
        words += f"; beside the training: {', '.join(beside)}"
    return answered(bool(recorded or beside), words)


@look
def sees_threads(case: Case) -> Finding:
    """The recording began with the program, and so sees the threads that it starts."""
    seen = case.facts_a.environment.get("recorded_by") == "command"
    return answered(seen, "recorded by the command" if seen else "recorded by hand")


@look
def is_fed(case: Case) -> Finding:
    """A batch or a replay sample."""
    return answered(
        case.row.group in (Group.DATA, Group.REPLAY),
        f"{case.row.name} is of group {case.row.group.label}",
    )


@look
def computed_while_written(case: Case) -> Finding:
    """Somebody writes parameters of a module that ran, at times of their own."""
    modules = ", ".join(map(printable, case.written_outside[:3]))
    if modules:
        return answered(True, f"parameters of {modules} change while no optimizer step is at work")
    return answered(False, "no parameter of what ran was seen to change outside an optimizer step")


@look
def is_rearranged(case: Case) -> Finding:
    """The same samples, in another order or under other numbers."""
    if case.rearranged:
        return answered(True, case.rearranged)
    return answered(False, "the runs were not seen to hold the same samples elsewhere")


@look
def is_renumbered(case: Case) -> Finding:
    """The same samples in the same order, and other numbers for the same things."""
    words = case.rearranged if case.renumbered else "they are in another order"
    return answered(case.renumbered, words)


@look
def is_shifted(case: Case) -> Finding:
    """The batches of one run are those of the other, some steps later."""
    return answered(bool(case.shifted), case.shifted or "no run was seen to be ahead of the other")


@look
def is_of_sampler(case: Case) -> Finding:
    """Indices, or what a replay sampler returned."""
    of_sampler = case.row.group is Group.REPLAY or case.row.role.startswith("indices")
    return answered(of_sampler, f"{case.row.name} is of group {case.row.group.label}")


@look
def draws_nothing(case: Case) -> Finding:
    """A module of torch that computes from its inputs and parameters alone."""
    home, _, name = case.kind.rpartition(".")
    computes = home in _COMPUTING and name not in _DRAWING
    return answered(computes, f"{case.row.component} is a {case.kind or 'module of unknown class'}")


@look
def at_another_call(case: Case) -> Finding:
    """Contents of one buffer that come in another order within the step."""
    row = case.row
    if row.group is not Group.FORWARD or row.a is None or row.b is None:
        return answered(False, f"{row.name} is of group {row.group.label}")
    calls = [other for other in case.step_rows if other.key == row.key and other != row]
    here, there = row.a.digest, row.b.digest
    first = [other.occurrence for other in calls if other.b and other.b.digest == here]
    second = [other.occurrence for other in calls if other.a and other.a.digest == there]
    if is_constant(row) or not (first or second):
        return answered(False, f"of {len(calls)} other calls none holds the same content")
    words = f"call {row.occurrence} of one run is call {(first or second)[0]} of the other"
    return answered(True, words)


@look
def only_backward_moved(case: Case) -> Finding:
    """Gradients flow back in another order through what was computed in the same one."""
    moved = {other.group for other in (case.row, *case.step_rows) if other.moved}
    words = ", ".join(group.label for group in sorted(moved))
    return answered(
        case.row.group in _BACKWARD and moved <= _BACKWARD,
        f"in another order: {words or 'nothing'}",
    )


@look
def is_equal_in_part(case: Case) -> Finding:
    """Real numbers of which many are equal: a draw changes all, a race some."""
    numbers = case.difference
    if numbers is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    many = numbers.differing <= _PART * numbers.elements
    return answered(
        many and numbers.dtype.startswith(("float", "bfloat")),
        f"{numbers.differing} of {numbers.elements} elements differ ({numbers.dtype})",
    )


def threads_beside(case: Case) -> tuple[str, ...]:
    """Names of the program's threads beside the training."""
    lines = dict.fromkeys((*case.facts_a.uncovered, *case.facts_b.uncovered))
    return tuple(
        line.removeprefix(THREAD_BESIDE) for line in lines if line.startswith(THREAD_BESIDE)
    )


def seeders_of(stream: str) -> tuple[str, ...]:
    """Calls that seed a stream that every process has; none for one of the program's own."""
    return _CUDA_SEEDERS if stream.startswith(_ON_CUDA) else _SEEDERS.get(stream, ())


def _seedings_until(facts: RunFacts, case: Case) -> list[SeedingCall]:
    """Calls that seeded the stream of the origin by then; a later one explains nothing."""
    return [
        call
        for call in facts.seeding
        if call.step <= case.row.step and _seeds(call, case.row.component)
    ]


def _seeds(call: SeedingCall, stream: str) -> bool:
    """The call seeded this stream; one of the program's own is named after the line."""
    seeders = seeders_of(stream)
    if seeders:
        return call.call in seeders
    return bool(call.location) and stream.endswith(f"[{call.location}]")


def _loads_until(facts: RunFacts, step: int) -> list[SeedingCall]:
    return [call for call in facts.loads if call.step <= max(step, INIT_STEP)]
