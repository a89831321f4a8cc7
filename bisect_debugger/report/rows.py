"""The events of one step as text: what the UI's Buffers screen shows."""

from bisect_debugger.diagnosis.evidence import step_words
from bisect_debugger.errors import printable
from bisect_debugger.twins import Pair, Row

ROWS_SHOWN = 60


def render_rows(pair: Pair, common_row: int, most: int = ROWS_SHOWN) -> str:
    """Differing events of a step in execution order; equal ones are counted.

    Args:
        pair: the twins.
        common_row: index of the step among the common ones.
        most: differing events that are listed; the rest is counted.
    """
    rows = pair.rows(common_row)
    differing = [row for row in rows if row.status.diverges]
    step = step_words(pair.step_number(common_row))
    lines = [f"{step}: {len(differing)} of {len(rows)} events differ"]
    lines += [f"  {_line(pair, row)}" for row in differing[:most]]
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most} more")
    return "\n".join(lines)


def _line(pair: Pair, row: Row) -> str:
    again = f" (call {row.occurrence + 1})" if row.occurrence else ""
    text = f"{row.status.symbol} {row.group.label:<12} {printable(row.name, 80)}{again}"
    difference = pair.difference(row)
    if difference is None or row.group.label == "rng":
        return text
    return (
        f"{text}  {difference.differing}/{difference.elements}  relFro {difference.rel_fro:.2g}  "
        f"max {difference.max_abs:.2g}"
    )
