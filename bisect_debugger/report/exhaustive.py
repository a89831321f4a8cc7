"""Every event compared, as text: what `compare --all` adds to the verdict."""

from collections.abc import Iterator

from bisect_debugger.errors import printable
from bisect_debugger.format.groups import Group
from bisect_debugger.format.words import step_words
from bisect_debugger.metrics import percent
from bisect_debugger.twins.tally import ComponentTally, Exhaustive, Greatest

ROWS_SHOWN = 40
"""Components that are listed; the rest is counted."""

_GROUP_WIDTH = max(len(group.label) for group in Group)
_NAME_CHARACTERS = 60


def render_exhaustive(everything: Exhaustive, most: int = ROWS_SHOWN) -> str:
    """Totals, the components that differ in causal order, and what was not compared.

    Args:
        everything: the counts.
        most: components that are listed.
    """
    differing = [tally for tally in everything.components if tally.events > tally.equal]
    lines = [f"  {line}" for line in _totals(everything)]
    names = [printable(tally.component, _NAME_CHARACTERS) for tally in differing[:most]]
    width = max(map(len, names), default=0)
    for name, tally in zip(names, differing, strict=False):
        lines.append(f"  ≠ {tally.group.label:<{_GROUP_WIDTH}} {name:<{width}}  {_counts(tally)}")
        if tally.greatest is not None:
            lines.append(f"    {'':<{_GROUP_WIDTH}} {_greatest(tally.greatest)}")
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most} more components that differ")
    lines += [f"  {line}" for line in _not_compared(everything)]
    return "\n".join(line.rstrip() for line in lines)


def _totals(everything: Exhaustive) -> Iterator[str]:
    if not everything.events:
        yield (
            f"{everything.differing_steps} of {everything.steps} steps differ; single events were "
            "not recorded (level coarse)"
        )
        return
    total = everything.total
    differing = everything.events - total("equal")
    yield (
        f"{differing} of {everything.events} events differ, in {everything.differing_steps} of "
        f"{everything.steps} steps"
    )
    if not differing:
        return
    parts = [
        (total("differing"), "with other content"),
        (total("one_sided"), "in one run only"),
        (total("moved"), "at another place in the order"),
    ]
    yield "of these " + ", ".join(f"{count} {words}" for count, words in parts if count)
    compared = total("differing") - total("digest_only") - total("other_layout")
    values = []
    if compared:
        elements = total("elements")
        share = percent(total("differing_elements"), elements)
        values.append(
            f"{compared} by their values ({total('differing_elements')} of {elements} elements "
            f"differ, {share})"
        )
    if total("digest_only"):
        values.append(f"{total('digest_only')} by digest only, their values were not kept")
    if total("other_layout"):
        values.append(f"{total('other_layout')} of another type or shape")
    if values:
        yield f"other content: {'; '.join(values)}"


def _counts(tally: ComponentTally) -> str:
    words = [f"{tally.events - tally.equal}/{tally.events} events"]
    for count, what in (
        (tally.one_sided, "in one run only"),
        (tally.moved, "at another place"),
        (tally.digest_only, "by digest only"),
        (tally.other_layout, "of another type or shape"),
    ):
        if count:
            words.append(f"{count} {what}")
    if tally.elements:
        share = percent(tally.differing_elements, tally.elements)
        words.append(f"{tally.differing_elements}/{tally.elements} elements ({share})")
    return ", ".join(words)


def _greatest(greatest: Greatest) -> str:
    d = greatest.difference
    return (
        f"furthest apart: {printable(greatest.buffer, _NAME_CHARACTERS)} in "
        f"{step_words(greatest.step)}, relFro {d.rel_fro:.3g}, max {d.max_abs:.3g}, "
        f"{d.differing}/{d.elements} elements"
    )


def _not_compared(everything: Exhaustive) -> Iterator[str]:
    for steps, which in ((everything.steps_a, "first"), (everything.steps_b, "second")):
        if steps:
            yield f"not compared: {steps} {_steps(steps)} that only the {which} run has"
    if everything.left_out:
        yield (
            f"not compared: {everything.left_out} events of a step in which a window opens or a "
            "run stopped"
        )
    if everything.beside:
        yield (
            f"not compared: {everything.beside} events of threads beside the training, whose step "
            "is chance"
        )


def _steps(count: int) -> str:
    return "step" if count == 1 else "steps"
