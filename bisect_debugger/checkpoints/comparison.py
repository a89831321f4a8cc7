"""The comparison of two checkpoints as frozen data, and its text."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bisect_debugger.checkpoints.model import LeftOut, Part
from bisect_debugger.errors import printable
from bisect_debugger.format.layouts import Layout
from bisect_debugger.metrics import Difference, judge, percent


class TensorStatus(Enum):
    """How one named tensor compares."""

    EQUAL = "equal"
    DIFFERS = "differs"
    OTHER_LAYOUT = "other type or shape"
    ONLY_IN_FIRST = "only in the first"
    ONLY_IN_SECOND = "only in the second"


@dataclass(frozen=True, slots=True)
class TensorRow:
    """One name in either checkpoint.

    Attributes:
        name: dotted name.
        part: what sort of record it belongs to.
        status: how it compares.
        layout_a, layout_b: element type and shape on each side, None where it is missing.
        difference: the numbers where the status is DIFFERS, else None.
    """

    name: str
    part: Part
    status: TensorStatus
    layout_a: Layout | None
    layout_b: Layout | None
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers over the tensors of one part, or over all.

    Attributes:
        part: the part, or None for all.
        tensors: names in either checkpoint.
        differing_tensors: names that are not equal, for whatever reason.
        elements: elements of tensors that both have in one layout.
        differing: those whose bits differ.
        rel_fro: ||A-B||_F / ||A||_F over all floats in tensors of at least one axis that both
            have in one layout. Scalars stay out: a step counter of 10,000 would drown every
            weight. nan where there is no such tensor.
    """

    part: Part | None
    tensors: int
    differing_tensors: int
    elements: int
    differing: int
    rel_fro: float


@dataclass(frozen=True, slots=True)
class CheckpointComparison:
    """Two checkpoints, name by name.

    Attributes:
        a, b: the files as they were named.
        rows: every name of either, by part and then by name.
        parts: totals of each part that occurs.
        overall: totals of all rows.
        left_out_a, left_out_b: entries that were not compared.
    """

    a: str
    b: str
    rows: tuple[TensorRow, ...]
    parts: tuple[Totals, ...]
    overall: Totals
    left_out_a: tuple[LeftOut, ...] = ()
    left_out_b: tuple[LeftOut, ...] = ()

    @property
    def equal(self) -> bool:
        """Every name stands in both, with equal bits."""
        return self.overall.differing_tensors == 0

    @property
    def exit_code(self) -> int:
        """0 equal, 1 different."""
        return 0 if self.equal else 1

    def within(self, tolerance: float) -> bool:
        """Whether nothing differs but values, and no tensor by more than this relFro.

        A NaN or Inf that one side has more of is above every tolerance.
        """
        return all(
            row.status is TensorStatus.EQUAL
            or (
                row.difference is not None
                and row.difference.rel_fro <= tolerance
                and not row.difference.one_sided_nonfinite
            )
            for row in self.rows
        )

    def render(self, limit: int = 20) -> str:
        """The comparison as plain text, ending in a newline.

        Args:
            limit: names listed of those that are not equal; how many more there are is said.
        """
        return "\n".join([*self._heading(), *self._table(), *self._list(limit), *self._rest()]) + (
            "\n"
        )

    def _heading(self) -> Iterator[str]:
        count, total = self.overall.differing_tensors, self.overall.tensors
        yield f"A: {printable(self.a)}"
        yield f"B: {printable(self.b)}"
        if self.equal:
            yield f"All {total} tensors are bit-equal."
        else:
            yield f"Not equal: {count} of {total} tensors."

    def _table(self) -> Iterator[str]:
        cells = [("part", "tensors", "not equal", "elements", "differing", "relFro")]
        for totals in (*self.parts, self.overall):
            cells.append(
                (
                    totals.part.value if totals.part else "all",
                    str(totals.tensors),
                    str(totals.differing_tensors),
                    str(totals.elements),
                    f"{totals.differing} ({percent(totals.differing, totals.elements)})",
                    "-" if math.isnan(totals.rel_fro) else f"{totals.rel_fro:.3g}",
                )
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        yield ""
        for row in cells:
            padded = [row[0].ljust(widths[0])]
            padded += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            yield "  ".join(padded)
        for totals in self.parts:
            if totals.differing and not math.isnan(totals.rel_fro):
                assert totals.part is not None, "totals of a part name it"
                yield f"{totals.part.value}: relFro {totals.rel_fro:.3g}, {judge(totals.rel_fro)}"

    def _list(self, limit: int) -> Iterator[str]:
        unequal = [row for row in self.rows if row.status is not TensorStatus.EQUAL]
        for part in Part:
            rows = [row for row in unequal[:limit] if row.part is part]
            if rows:
                yield ""
                yield f"{part.value} ({part.meaning}):"
                yield from (f"  {_line(row)}" for row in rows)
        if len(unequal) > limit:
            yield f"  … and {len(unequal) - limit} more that are not equal"

    def _rest(self) -> Iterator[str]:
        for side, left_out in (("A", self.left_out_a), ("B", self.left_out_b)):
            if left_out:
                yield ""
                yield f"Not compared in {side}: {len(left_out)}"
                yield from (f"  {printable(entry.name)} {entry.reason}" for entry in left_out[:5])
                if len(left_out) > 5:
                    yield f"  … and {len(left_out) - 5} more"


def _line(row: TensorRow) -> str:
    name = printable(row.name)
    if row.status is TensorStatus.OTHER_LAYOUT:
        assert row.layout_a is not None, "both have it"
        assert row.layout_b is not None, "both have it"
        return f"{name}: {row.layout_a.text} in A, {row.layout_b.text} in B"
    d = row.difference
    if d is None:
        layout = row.layout_a or row.layout_b
        assert layout is not None, "a row has at least one side"
        return f"{name}: {layout.text}, {row.status.value}"
    first = ", ".join(map(str, d.first_index))
    words = [
        f"{d.differing} / {d.elements} elements ({percent(d.differing, d.elements)})",
        f"relFro {d.rel_fro:.3g}",
        f"greatest difference {d.max_abs:.3g}",
    ]
    if d.max_ulp is not None:
        words.append(f"{d.max_ulp} ULP")
    words.append(f"first at ({first})" if d.shape else f"{d.first_a.decimal} in A")
    words += [] if d.shape else [f"{d.first_b.decimal} in B"]
    if d.one_sided_nonfinite:
        words.append(f"NaN {d.nan_a} against {d.nan_b}, Inf {d.inf_a} against {d.inf_b}")
    return f"{name}: {', '.join(words)}"
