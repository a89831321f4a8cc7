"""The smallest set of conditions that still makes twins equal: delta debugging.

After Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): parts and
complements are tried, finer and finer. Single conditions come first, because one fault is the rule.
"""

from collections.abc import Callable, Sequence

Holds = Callable[[frozenset[str]], bool | None]
"""Tells whether twins are equal under these; None where that could not be found out."""


def smallest(names: Sequence[str], holds: Holds) -> frozenset[str] | None:
    """A minimal subset of the names that holds.

    Args:
        names: all of them, likeliest first; together they hold.
        holds: tries a set. It is not asked twice.

    Returns:
        A set of which no single member can be left out, or None where it could not be decided.
    """
    answers: dict[frozenset[str], bool | None] = {frozenset(names): True}

    def known(some: frozenset[str]) -> bool | None:
        if some not in answers:
            answers[some] = holds(some)
        return answers[some]

    for name in names:
        if known(frozenset((name,))):
            return frozenset((name,))
    return _ddmin(list(names), known)


def _ddmin(names: list[str], known: Holds) -> frozenset[str] | None:
    parts = 2
    while len(names) > 1:
        pieces = _split(names, parts)
        complements = [[name for name in names if name not in piece] for piece in pieces]
        smaller = next(
            (some for some in (*pieces, *complements) if some and known(frozenset(some))), None
        )
        if smaller is not None:
            names, parts = smaller, 2 if smaller in pieces else max(parts - 1, 2)
        elif parts < len(names):
            parts = min(2 * parts, len(names))
        else:
            break
    undecided = [
        name for name in names if len(names) > 1 and known(frozenset(names) - {name}) is None
    ]
    return None if undecided else frozenset(names)


def _split(names: list[str], parts: int) -> list[list[str]]:
    size, left = divmod(len(names), parts)
    pieces, start = [], 0
    for number in range(parts):
        end = start + size + (number < left)
        pieces.append(names[start:end])
        start = end
    return pieces
