"""The looks: what each question of the decision tree examines, and what it found.

Every look is a pure function of a case and returns its evidence in words, so the trail shows
what an answer rests on.
"""

from collections.abc import Callable

from bisect_debugger.causality.case import Answer, Case, Finding
from bisect_debugger.causality.names import is_action as names_an_action
from bisect_debugger.causality.turns import turns_words
from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.schema import INIT_STEP, EventFlag
from bisect_debugger.format.words import step_words
from bisect_debugger.metrics.difference import DIFFERENT_SEED_REL_FRO, SAME_SEED_REL_FRO

_DECIDING_FACTS = frozenset(
    (
        "cpu",
        "cpu_capability",
        "torch",
        "cuda",
        "cudnn",
        "devices",
        "torch_num_threads",
        "torch_num_interop_threads",
        "deterministic_algorithms",
        "float32_matmul_precision",
        "cudnn_deterministic",
        "cudnn_benchmark",
        "cudnn_allow_tf32",
        "cublas_allow_tf32",
        "env:OMP_NUM_THREADS",
        "env:OMP_SCHEDULE",
        "env:OMP_DYNAMIC",
        "env:KMP_DETERMINISTIC_REDUCTION",
        "env:MKL_NUM_THREADS",
        "env:MKL_DYNAMIC",
        "env:MKL_CBWR",
        "env:MKL_ENABLE_INSTRUCTIONS",
        "env:OPENBLAS_NUM_THREADS",
        "env:OPENBLAS_CORETYPE",
        "env:ATEN_CPU_CAPABILITY",
        "env:CUBLAS_WORKSPACE_CONFIG",
        "env:NVIDIA_TF32_OVERRIDE",
        "env:NCCL_ALGO",
        "env:NCCL_PROTO",
        "env:TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
        "env:TORCH_BLAS_PREFER_CUBLASLT",
        "env:TORCH_CUDNN_V8_API_DISABLED",
        "env:TORCH_COMPILE_DISABLE",
        "env:TORCHDYNAMO_DISABLE",
        "env:TORCHINDUCTOR_MAX_AUTOTUNE",
    )
)
"""Environment facts that decide how a kernel adds up its terms. Which of several equal devices
was visible, or how many cores the machine has, does not: twins may run side by side."""

_IMPLAUSIBLE_SHARE = 0.01
"""Share of implausible values (|v| >= 1e6 or denormal) above which a buffer looks like memory
that nobody wrote: allocator garbage seen in checkpoints held 250 such values in 8 million, all
in padding, while trained weights held none."""

_FEW_SHARE = 0.1
"""Share of differing elements up to which a sum in another order is no explanation: it rounds
otherwise in a good part of all elements."""

LOOKS: dict[str, Callable[[Case], Finding]] = {}
"""Name -> look."""


def look(function: Callable[[Case], Finding]) -> Callable[[Case], Finding]:
    """Register a look under its function name."""
    LOOKS[function.__name__] = function
    return function


def answered(answer: bool, evidence: str) -> Finding:
    """Yes or no, with what was looked at."""
    return Finding(Answer.YES if answer else Answer.NO, evidence)


def _is_group(*groups: Group) -> Callable[[Case], Finding]:
    def answer(case: Case) -> Finding:
        return answered(
            case.row.group in groups, f"{case.row.name} is of group {case.row.group.label}"
        )

    return answer


LOOKS["is_rng"] = _is_group(Group.RNG)
LOOKS["is_replay"] = _is_group(Group.REPLAY)
LOOKS["is_simulator"] = _is_group(Group.SIMULATOR)
LOOKS["is_data"] = _is_group(Group.DATA)
LOOKS["is_optim"] = _is_group(Group.OPTIM)
LOOKS["is_param"] = _is_group(Group.PARAM)
LOOKS["is_backward"] = _is_group(Group.GRAD_OUT, Group.GRAD_SCRATCH)
LOOKS["is_loss"] = _is_group(Group.LOSS)
LOOKS["is_user"] = _is_group(Group.USER)


@look
def both_have_it(case: Case) -> Finding:
    """The event stands in both runs."""
    if case.row.a and case.row.b:
        return answered(True, f"{case.row.name} was recorded in both runs")
    only = "first" if case.row.a else "second"
    return answered(False, f"{case.row.name} was recorded in the {only} run only")


@look
def same_layout(case: Case) -> Finding:
    """Element type and shape are the same."""
    a, b = case.row.a, case.row.b
    if a is None or b is None:
        return Finding(Answer.NOT_RECORDED, "only one run has it")
    if a.layout == b.layout:
        return answered(True, f"both are {a.layout.text}")
    return answered(False, f"{a.layout.text} against {b.layout.text}")


@look
def only_moved(case: Case) -> Finding:
    """Equal content at another place."""
    if case.row.moved and not case.row.status.diverges:
        turns = turns_words(case)
        words = f"{case.row.name} is equal, and its place is not{f': {turns}' if turns else ''}"
        return answered(True, words)
    return answered(False, "the contents differ")


@look
def differs_from_the_first(case: Case) -> Finding:
    """The first recorded value differs already."""
    first = case.row.step <= case.first_step
    when = step_words(case.row.step)
    if first:
        return answered(True, f"it differs in {when}, where it was first recorded")
    return answered(False, f"equal in {step_words(case.first_step)}, first different in {when}")


@look
def is_init(case: Case) -> Finding:
    """A parameter or module buffer before the first step."""
    row = case.row
    if not row.is_first_value:
        return answered(False, f"group {row.group.label}, {step_words(row.step)}")
    when = "at init" if row.step == INIT_STEP else f"when it appeared, in step {row.step}"
    return answered(True, f"{row.name} as it began, {when}")


@look
def looks_uninitialised(case: Case) -> Finding:
    """Enormous or denormal values in bulk."""
    difference = case.difference
    if difference is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    worst = max(difference.implausible_a, difference.implausible_b)
    share = worst / difference.elements if difference.elements else 0.0
    return answered(
        worst > 0 and share >= _IMPLAUSIBLE_SHARE,
        f"{worst} of {difference.elements} values are denormal or at least 1e6 in magnitude",
    )


@look
def no_sibling_equal(case: Case) -> Finding:
    """Every other buffer of the group differs too."""
    if case.row.step != INIT_STEP:
        return answered(False, f"it appeared in step {case.row.step}, after those of init")
    total = case.siblings_equal + case.siblings_different
    return answered(
        case.siblings_equal == 0,
        f"{case.siblings_different} of {total} other parameters differ"
        if total
        else "no other parameter was drawn",
    )


@look
def changed_outside_step(case: Case) -> Finding:
    """A parameter found changed although no optimizer stepped."""
    flagged = EventFlag.OUTSIDE_STEP in case.row.flags
    return answered(
        case.row.group is Group.PARAM and flagged,
        "it was found changed since it was seen last, and no optimizer stepped in between"
        if flagged
        else "it was not seen to change between steps",
    )


@look
def written_midway(case: Case) -> Finding:
    """Found changed when its module was called, after the step had begun."""
    row = case.row
    before = case.step_rows[: case.step_rows.index(row)] if row in case.step_rows else ()
    for other in before:
        if other.group not in (Group.RNG, Group.PARAM):
            return answered(True, f"{other.name} stands before it in {step_words(row.step)}")
    return answered(False, f"it was found so where {step_words(row.step)} begins")


@look
def is_first_training_step(case: Case) -> Finding:
    """The origin stands in the first recorded training step."""
    first = max(case.first_step, 0)
    return answered(
        case.row.step <= first,
        f"{step_words(case.row.step)}; first recorded in {step_words(case.first_step)}",
    )


@look
def is_permuted(case: Case) -> Finding:
    """The same entries in another order."""
    if case.permuted is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    return answered(
        case.permuted,
        "sorted along the first axis, both sides are equal"
        if case.permuted
        else "the entries themselves differ, not only their order",
    )


@look
def streams_equal(case: Case) -> Finding:
    """No recorded random stream differs yet."""
    if not case.recorded_streams:
        return Finding(Answer.NOT_RECORDED, "no random stream was recorded")
    if case.differing_streams:
        return answered(False, f"different: {', '.join(case.differing_streams)}")
    return answered(True, "; ".join(stream_words(case)))


def stream_words(case: Case) -> list[str]:
    """The recorded streams, of which no differing one was drawn from, in words to be shown."""
    differing = (*case.differing_streams, *case.idle_streams)
    equal = [stream for stream in case.recorded_streams if stream not in differing]
    words = [f"equal: {', '.join(map(printable, equal))}"] if equal else []
    if case.idle_streams:
        idle = ", ".join(map(printable, case.idle_streams))
        words.append(f"different, but not drawn from in this step: {idle}")
    return words


@look
def is_hyper_parameter(case: Case) -> Finding:
    """A value of the optimizer's param groups."""
    hyper = case.row.group is Group.OPTIM and not case.row.subject
    return answered(hyper, f"{case.row.name} is of group {case.row.group.label}")


@look
def order_differs(case: Case) -> Finding:
    """Events of optimizer or gradients stand in another order."""
    groups = (Group.OPTIM, Group.GRAD)
    moved = [row.name for row in case.step_rows if row.moved and row.group in groups]
    if moved:
        return answered(True, f"{len(moved)} events stand in another order, first {moved[0]}")
    return answered(False, "all parameters are visited in the same order")


@look
def is_grad(case: Case) -> Finding:
    """A gradient as the optimizer sees it."""
    return answered(
        case.row.group is Group.GRAD,
        f"group {case.row.group.label}, {case.contributions} contribution(s) in this step",
    )


@look
def environment_differs(case: Case) -> Finding:
    """Facts that decide the order of additions differ."""
    deciding = {name: pair for name, pair in case.environment.items() if name in _DECIDING_FACTS}
    if not deciding:
        return answered(False, "versions, devices, thread counts and flags are the same")
    listed = "; ".join(f"{name}: {a} against {b}" for name, (a, b) in sorted(deciding.items()))
    return answered(True, listed)


@look
def is_module_output(case: Case) -> Finding:
    """The output of a module."""
    yes = case.row.group is Group.FORWARD and case.row.role.startswith("out")
    return answered(yes, f"{case.row.name} is of group {case.row.group.label}")


@look
def is_module_input(case: Case) -> Finding:
    """The input of a module."""
    yes = case.row.group is Group.FORWARD and case.row.role.startswith("in")
    return answered(yes, f"{case.row.name} is of group {case.row.group.label}")


@look
def is_rounding(case: Case) -> Finding:
    """The size of a difference in the order of additions, not of another draw."""
    if case.difference is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    small = case.difference.rel_fro <= SAME_SEED_REL_FRO
    return answered(
        small, f"relFro {case.difference.rel_fro:.3g} (same run: at most {SAME_SEED_REL_FRO:g})"
    )


@look
def already_different(case: Case) -> Finding:
    """It differs where the window of the recording opens."""
    return answered(
        case.opened,
        f"{case.row.name} differs in {step_words(case.row.step)}, the first that was recorded",
    )


@look
def is_action(case: Case) -> Finding:
    """What was handed to a simulator."""
    return answered(
        names_an_action(case.row), f"{case.row.name} is of group {case.row.group.label}"
    )


@look
def is_another_draw(case: Case) -> Finding:
    """The size of another draw: no element is equal, and the whole is far off."""
    numbers = case.difference
    if numbers is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    far = numbers.rel_fro >= DIFFERENT_SEED_REL_FRO and numbers.differing == numbers.elements
    return answered(
        far,
        f"{numbers.differing} of {numbers.elements} elements differ, relFro {numbers.rel_fro:.3g} "
        f"(different seed: at least {DIFFERENT_SEED_REL_FRO:g})",
    )


@look
def differs_throughout(case: Case) -> Finding:
    """Every element differs."""
    numbers = case.difference
    if numbers is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    return answered(
        numbers.differing == numbers.elements,
        f"{numbers.differing} of {numbers.elements} elements differ",
    )


@look
def has_common_factor(case: Case) -> Finding:
    """One number turns the gradient of the first run into that of the second."""
    if case.difference is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    if case.factor is None:
        return answered(False, "no one factor turns the one into the other")
    return answered(True, f"the second run's is {case.factor:.6g} times the first run's")


@look
def is_no_reordered_sum(case: Case) -> Finding:
    """Few elements, or differences beyond rounding: a sum in another order does neither."""
    numbers = case.difference
    if numbers is None:
        return Finding(Answer.NOT_RECORDED, "no values were recorded (level full has them)")
    few = numbers.differing <= numbers.elements * _FEW_SHARE
    return answered(
        few or not numbers.rel_fro <= SAME_SEED_REL_FRO,
        f"{numbers.differing} of {numbers.elements} elements differ, relFro {numbers.rel_fro:.3g} "
        f"(same run: at most {SAME_SEED_REL_FRO:g})",
    )
