"""What each knob changes, which causes it speaks for, and what to do when it is the one."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from bisect_debugger.causality.causes import Cause


@dataclass(frozen=True, slots=True)
class Knob:
    """A condition that an experiment changes.

    Attributes:
        name: as the trainer's process knows it.
        meaning: what is changed, a clause.
        causes: kinds of fault that it takes away.
        advice: what to do when twins are equal with it.
    """

    name: str
    meaning: str
    causes: frozenset[Cause]
    advice: str


_SEEDS = (Cause.SEED_NOT_APPLIED, Cause.UNSEEDED_INIT, Cause.RNG_STREAM, Cause.DATA_ORDER)

# `addresses` fixes the hash seed as well, so it comes after `hashseed` and speaks for no cause that
# this one does not: where the hash seed is enough, it is tried first.
KNOBS: tuple[Knob, ...] = (
    Knob(
        "hashseed",
        "PYTHONHASHSEED fixed",
        frozenset(
            (
                Cause.DATA_ORDER,
                Cause.RNG_STREAM,
                Cause.OPTIMIZER_ORDER,
                Cause.CONTROL_FLOW,
                Cause.SEED_NOT_APPLIED,
            )
        ),
        "Something iterates over a set, or uses hash() of a string: sort it where it is iterated; "
        "take zlib.crc32 where a number is needed.",
    ),
    Knob(
        "addresses",
        "memory at fixed addresses, and PYTHONHASHSEED fixed",
        frozenset(
            (
                Cause.OPTIMIZER_ORDER,
                Cause.DATA_ORDER,
                Cause.CONTROL_FLOW,
            )
        ),
        "Something is in the order of addresses: a set of objects or tensors, or what is sorted by "
        "id() or data_ptr(); keep a list, or the keys of a dict, in the order of insertion.",
    ),
    Knob(
        "entropy",
        "the system's entropy replaced by a fixed stream",
        frozenset((*_SEEDS, Cause.SAMPLER_ORDER, Cause.SIMULATOR)),
        "Something takes its seed from the system: give it the run's seed.",
    ),
    Knob(
        "seed-all",
        "python, numpy and torch seeded before the program begins",
        frozenset((*_SEEDS, Cause.SAMPLER_ORDER)),
        "A global generator is drawn from before it is seeded: seed it first of all.",
    ),
    Knob(
        "simulator-seed",
        "the first reset of every environment seeded",
        frozenset((Cause.SIMULATOR,)),
        "Pass a seed to the environment's first reset, and to its spaces.",
    ),
    Knob(
        "clock",
        "clocks that count instead of telling the time",
        frozenset((Cause.WALL_CLOCK, Cause.CONTROL_FLOW, Cause.SEED_NOT_APPLIED, Cause.RNG_STREAM)),
        "Something depends on the time of day or on how long work takes: take a step count.",
    ),
    Knob(
        "listing",
        "directories listed in sorted order",
        frozenset((Cause.DATA_ORDER, Cause.RNG_STREAM)),
        "Files come in the order of the file system: sort what listdir, scandir or glob return.",
    ),
    Knob(
        "workers",
        "data loaders without worker processes",
        frozenset((Cause.PREFETCH_INTERLEAVING, Cause.DATA_ORDER, Cause.RNG_STREAM)),
        "Workers of a DataLoader draw on their own: pass worker_init_fn and a generator.",
    ),
    Knob(
        "threads",
        "one thread inside operators",
        frozenset(
            (
                Cause.FORWARD_KERNEL,
                Cause.BACKWARD_KERNEL,
                Cause.REDUCTION_ORDER,
                Cause.ENVIRONMENT,
            )
        ),
        "The order of additions depends on the number of threads: fix it in both runs.",
    ),
    Knob(
        "switch",
        "one thread of the program at a time, which hands on its turn where it waits",
        frozenset(
            (
                Cause.PREFETCH_INTERLEAVING,
                Cause.ASYNC_UPDATE,
                Cause.FORWARD_KERNEL,
                Cause.BACKWARD_KERNEL,
            )
        ),
        "Threads race: let one thread own what they share, or hand it over through a queue.",
    ),
    Knob(
        "turns",
        "thread pools of one worker, results in the order of their jobs, threads one by one",
        frozenset(
            (
                Cause.PREFETCH_INTERLEAVING,
                Cause.REDUCTION_ORDER,
                Cause.FORWARD_KERNEL,
                Cause.BACKWARD_KERNEL,
                Cause.OPTIMIZER_STATE,
                Cause.DATA_ORDER,
                Cause.ASYNC_UPDATE,
            )
        ),
        "Results of threads are taken as they get ready: take them in the order of their jobs.",
    ),
    Knob(
        "deterministic",
        "torch's deterministic algorithms",
        frozenset((Cause.FORWARD_KERNEL, Cause.BACKWARD_KERNEL, Cause.REDUCTION_ORDER)),
        "Call torch.use_deterministic_algorithms(True), or replace the operator that it names.",
    ),
    Knob(
        "fill-memory",
        "memory that is made without content filled with zeros",
        frozenset((Cause.UNINITIALISED_MEMORY, Cause.FORWARD_KERNEL)),
        "Something reads what torch.empty or numpy.empty left: use zeros, or write all of it.",
    ),
)


_ALIKE = (
    frozenset(("hashseed", "addresses")),
    frozenset(("entropy", "seed-all", "simulator-seed")),
    frozenset(("workers", "threads", "switch", "turns", "deterministic")),
    frozenset(("deterministic", "fill-memory")),
)
"""Knobs of which several may take away one fault."""


def alike(name: str) -> frozenset[str]:
    """The knob, and those that may take away the same fault."""
    return frozenset((name,)).union(*(family for family in _ALIKE if name in family))


def in_order_for(
    causes: frozenset[Cause], others: frozenset[Cause] = frozenset()
) -> tuple[str, ...]:
    """Names of all knobs, those first that speak for one of the causes.

    Args:
        causes: of the origins.
        others: that the origins may have as well; knobs for these come next.
    """
    likely = [knob.name for knob in KNOBS if knob.causes & causes]
    likely += [knob.name for knob in KNOBS if knob.causes & others and knob.name not in likely]
    return (*likely, *(knob.name for knob in KNOBS if knob.name not in likely))


def knob_called(name: str) -> Knob:
    """The knob of a name."""
    return next(knob for knob in KNOBS if knob.name == name)


def knobs_words(names: Collection[str]) -> str:
    """Which knobs are on, in few words: of many those that are off are named; empty for none."""
    return _in_few_words(names, lambda knob: knob.name, " + ", ("all knobs", "all but"))


def changes_words(names: Collection[str]) -> str:
    """What these knobs change, a clause that is as short; empty for none."""
    everything = ("every condition", "every condition but")
    return _in_few_words(names, lambda knob: knob.meaning, "; ", everything)


def _in_few_words(
    names: Collection[str], word: Callable[[Knob], str], between: str, everything: tuple[str, str]
) -> str:
    words = {knob.name: word(knob) for knob in KNOBS}
    off = [said for name, said in words.items() if name not in names]
    if not off:
        return everything[0]
    if len(off) < len(KNOBS) / 2:
        return f"{everything[1]} {between.join(off)}"
    # A file may name knobs that this version does not know; they keep their names.
    return between.join(words.get(name, name) for name in names)
