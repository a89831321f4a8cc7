"""What an experiment takes back: advice and guesses that a knob would have proven right.

A knob does what an advice says, for the whole program. Where the twins diverge with it as they do
without, following the advice changes nothing. Only knobs that surely do it are named here: one
thread inside operators is no proof that a kernel of one's own does not race.
"""

from bisect_debugger.causality.causes import Cause

FOLLOWED_BY: tuple[tuple[str, frozenset[str]], ...] = (
    ("Seed every stream before the first draw", frozenset(("seed-all",))),
    ("Look at the seeding calls in the note", frozenset(("seed-all", "entropy"))),
    ("Look for numpy.random.default_rng()", frozenset(("entropy", "hashseed"))),
    ("Look for a generator of its own in this component", frozenset(("entropy",))),
    ("random.SystemRandom, secrets and os.urandom", frozenset(("entropy",))),
    ("Do not iterate over a set of strings", frozenset(("hashseed",))),
    ("Sort file lists", frozenset(("listing",))),
    ("Seed each environment", frozenset(("simulator-seed", "entropy"))),
    ("Replace torch.empty", frozenset(("fill-memory",))),
    ("Check that every element of the buffer is written", frozenset(("fill-memory",))),
    ("torch.utils.deterministic.fill_uninitialized_memory", frozenset(("fill-memory",))),
    ("torch.use_deterministic_algorithms(True) names", frozenset(("deterministic",))),
    ("CPU: OMP_NUM_THREADS=1", frozenset(("threads",))),
    ("Fix the number of threads", frozenset(("threads",))),
    ("Make schedules follow the step counter", frozenset(("clock",))),
    ("Early stopping and time budgets", frozenset(("clock",))),
)
"""How an advice begins, and the knobs that together do what it says."""

GUESSED: dict[Cause, frozenset[str]] = {
    Cause.WALL_CLOCK: frozenset(("clock",)),
    Cause.UNINITIALISED_MEMORY: frozenset(("fill-memory",)),
}
"""Causes that recordings only suggest, and the knobs that take such a fault away for sure."""


def knobs_that_follow(advice: str) -> frozenset[str]:
    """The knobs that together do what an advice says; none where no knob surely does."""
    return next((knobs for start, knobs in FOLLOWED_BY if advice.startswith(start)), frozenset())
