"""Where a stream was seeded: the line to change when the seed did not reach a generator."""

from bisect_debugger.causality.case import Case
from bisect_debugger.causality.causes import Cause
from bisect_debugger.format.groups import Group
from bisect_debugger.runs import SeedingCall

_SEEDERS = {
    "rng.python": ("random.seed",),
    "rng.numpy": ("numpy.random.seed",),
    "rng.torch_cpu": ("torch.manual_seed", "torch.seed"),
}
_CUDA_SEEDERS = ("torch.manual_seed", "torch.seed", "torch.cuda.")
_ENTROPY = "entropy"


def seeding_source(case: Case, cause: Cause) -> str:
    """``file:line`` of the call that seeded the stream, or empty where none was recorded.

    Args:
        case: the origin; only a stream has such a line.
        cause: what the tree concluded.
    """
    row = case.row
    if row.group is not Group.RNG or cause is not Cause.SEED_NOT_APPLIED:
        return ""
    calls = [call for call in case.facts_a.seeding if call.step <= row.step]
    others = [call for call in case.facts_b.seeding if call.step <= row.step]
    own = [number for number, call in enumerate(calls) if _seeds(call, row.component)]
    at_fault = [
        number
        for number in own
        if calls[number].argument == _ENTROPY
        or (number < len(others) and others[number].argument != calls[number].argument)
    ]
    if row.component not in _SEEDERS and not row.component.startswith("rng.torch_cuda"):
        # Which of several generators a call made is not recorded.
        return calls[at_fault[0]].location if len(at_fault) == 1 else ""
    chosen = (at_fault or own)[-1:]
    return calls[chosen[0]].location if chosen else ""


def _seeds(call: SeedingCall, stream: str) -> bool:
    if stream.startswith("rng.torch_cuda"):
        return call.call.startswith(_CUDA_SEEDERS)
    return call.call in _SEEDERS.get(stream, ("numpy.random.default_rng",))
