"""Whether two runs may be compared at all, said before anything is compared.

Runs that were recorded in another way differ in what they hold, and every such difference
would look like a divergence of the training.
"""

from bisect_debugger.errors import NotComparable, printable
from bisect_debugger.runs import Run, RunFacts

_WORDS = {
    "selected_groups": "groups",
    "include": "include",
    "exclude": "exclude",
    "heads": "heads",
}
"""Attribute of the file -> option of the recording."""


def check_comparable(a: Run, b: Run) -> None:
    """Refuse what would only compare two ways of recording.

    Raises:
        NotComparable: the runs are of other ranks, or were recorded in other ways.
    """
    names = f"{printable(str(a.path))} and {printable(str(b.path))}"
    if a.facts.rank != b.facts.rank:
        raise NotComparable(
            f"{names} are of rank {a.facts.rank} and rank {b.facts.rank}, which do not do the "
            "same work; compare the files of one rank."
        )
    levels = (a.facts.level, b.facts.level)
    if levels[0] != levels[1] and "coarse" in levels:
        raise NotComparable(
            f"{names} were recorded at level {printable(levels[0])} and level "
            f"{printable(levels[1])}, and a coarse run holds no events to compare with; record "
            "both at one level."
        )
    if "coarse" in levels and a.facts.window != b.facts.window:
        raise NotComparable(
            f"{names} were recorded over other steps at level coarse, which cannot tell what the "
            "first recorded step holds in addition; record both over the same steps."
        )
    if a.facts.algorithms != b.facts.algorithms:
        left, right = (
            ", ".join(sorted(map(printable, run.facts.algorithms))) or "none" for run in (a, b)
        )
        raise NotComparable(
            f"{names} hold digests of other algorithms (for tensors on a device: {left} against "
            f"{right}), and two algorithms never agree; record both on devices of one kind, with "
            "one setting of BISECT_DEBUGGER_DIGEST."
        )
    option = _other_option(a.facts, b.facts)
    if option:
        left, right = (printable(run.facts.selection.get(option, "") or "none") for run in (a, b))
        raise NotComparable(
            f"{names} were recorded with another selection ({_WORDS[option]}: {left} against "
            f"{right}), so what only one of them holds would look like a divergence; record both "
            "with the same options."
        )


def check_common(a: Run, b: Run, steps: int) -> None:
    """Refuse runs that have nothing in common.

    Args:
        a: one run.
        b: the other one.
        steps: how many steps both have.

    Raises:
        NotComparable: they share no step or no buffer.
    """
    names = f"{printable(str(a.path))} and {printable(str(b.path))}"
    if steps == 0:
        raise NotComparable(
            f"{names} have no step in common, so nothing can be compared; record both over "
            "the same steps."
        )
    if not {x.key for x in a.buffers} & {x.key for x in b.buffers} and (a.buffers or b.buffers):
        raise NotComparable(
            f"{names} have no buffer in common, so they are runs of different programs; "
            "compare two recordings of one trainer."
        )


def _other_option(a: RunFacts, b: RunFacts) -> str:
    """The first option that selects otherwise in both runs, or an empty string."""
    globs = any(
        facts.selection.get(name, "[]") not in ("", "[]")
        for facts in (a, b)
        for name in ("include", "exclude")
    )
    for option in _WORDS:
        # Heads only say what globs must not take away.
        if option == "heads" and not globs:
            continue
        if a.selection.get(option, "") != b.selection.get(option, ""):
            return option
    return ""
