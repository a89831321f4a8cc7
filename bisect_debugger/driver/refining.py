"""What a proof says of the cause: the knob that makes twins equal tells what kind of fault it is.

From a pair of recordings some kinds look alike. Which one it is shows where one condition alone
takes the divergence away: batches in the order of a set and batches that were drawn without a seed
differ in the same way, and only the former are equal once PYTHONHASHSEED is fixed.
"""

from dataclasses import dataclass

from bisect_debugger.causality.causes import Cause
from bisect_debugger.format.groups import Group

_FED = frozenset((Group.DATA, Group.REPLAY))
_DRAWN = frozenset((*_FED, Group.RNG, Group.SIMULATOR))
_COMPUTED = frozenset((Group.FORWARD, Group.LOSS, Group.USER))
_ANY = frozenset(Group)
_BACKWARD = frozenset((Group.GRAD_OUT, Group.GRAD_SCRATCH, Group.GRAD, Group.OPTIM))


@dataclass(frozen=True, slots=True)
class _Refinement:
    """With this knob alone equal, these causes in these groups are that one."""

    knob: str
    groups: frozenset[Group]
    were: frozenset[Cause]
    cause: Cause


_GUESSES = frozenset(
    (
        Cause.UNEXPLAINED,
        Cause.RNG_STREAM,
        Cause.PREFETCH_INTERLEAVING,
        Cause.ASYNC_UPDATE,
        Cause.FORWARD_KERNEL,
        Cause.WALL_CLOCK,
    )
)
"""What is concluded where the recording shows no more than that something differs."""

_ORDERS = frozenset((Cause.DATA_ORDER, Cause.SAMPLER_ORDER))

_BRANCHES = frozenset((Cause.CONTROL_FLOW,))
"""A batch of another shape, or that comes earlier, looks like one that was left out."""

_REFINEMENTS = (
    *(
        _Refinement(knob, groups, were, cause)
        for knob in ("hashseed", "addresses")
        for groups, were, cause in (
            (frozenset((Group.REPLAY,)), _GUESSES | _BRANCHES, Cause.SAMPLER_ORDER),
            (frozenset((Group.DATA,)), _GUESSES | _BRANCHES, Cause.DATA_ORDER),
            (_COMPUTED, _GUESSES, Cause.DATA_ORDER),
        )
    ),
    _Refinement("listing", _FED, _GUESSES | _BRANCHES, Cause.DATA_ORDER),
    _Refinement("listing", _COMPUTED, _GUESSES, Cause.DATA_ORDER),
    _Refinement("fill-memory", _ANY, frozenset(Cause), Cause.UNINITIALISED_MEMORY),
    _Refinement("simulator-seed", _DRAWN, frozenset(Cause), Cause.SIMULATOR),
    # A stream or a batch that follows the clock is seeded from it; the rest is decided by it.
    _Refinement("clock", _FED, _ORDERS | _GUESSES, Cause.RNG_STREAM),
    _Refinement("clock", _FED, _BRANCHES, Cause.WALL_CLOCK),
    # Streams that began equal were drawn from as often as it says.
    _Refinement(
        "clock",
        frozenset((Group.RNG,)),
        frozenset((Cause.CONTROL_FLOW, Cause.RNG_STREAM)),
        Cause.WALL_CLOCK,
    ),
    _Refinement(
        "clock",
        _ANY - _DRAWN,
        _GUESSES
        | {
            Cause.CONTROL_FLOW,
            Cause.OPTIMIZER_STATE,
            Cause.REDUCTION_ORDER,
            Cause.RESUME_STATE,
        },
        Cause.WALL_CLOCK,
    ),
    _Refinement("entropy", _FED | _COMPUTED, _ORDERS | _GUESSES, Cause.RNG_STREAM),
    _Refinement("seed-all", _FED | _COMPUTED, _ORDERS | _GUESSES, Cause.RNG_STREAM),
    *(
        _Refinement(knob, _ANY - _DRAWN, frozenset((Cause.WALL_CLOCK,)), Cause.ASYNC_UPDATE)
        for knob in ("switch", "turns")
    ),
    _Refinement("workers", _DRAWN, _GUESSES, Cause.PREFETCH_INTERLEAVING),
    *(
        _Refinement(
            knob,
            frozenset((Group.RNG, *_FED)),
            frozenset((Cause.RNG_STREAM, Cause.SEED_NOT_APPLIED, Cause.UNEXPLAINED)),
            Cause.PREFETCH_INTERLEAVING,
        )
        for knob in ("switch", "turns")
    ),
    *(
        _Refinement(
            knob,
            frozenset((Group.FORWARD,)),
            frozenset((Cause.RNG_STREAM, Cause.UNEXPLAINED)),
            Cause.FORWARD_KERNEL,
        )
        for knob in ("switch", "turns", "threads", "deterministic")
    ),
)


def refined(cause: Cause, group: Group, knob: str) -> Cause:
    """The cause as it is known once a knob alone made the twins equal.

    Args:
        cause: what the recordings spoke for.
        group: of the origin.
        knob: the one that is enough.
    """
    for each in _REFINEMENTS:
        if each.knob == knob and group in each.groups and cause in each.were:
            return each.cause
    return cause
