"""Comparing checkpoints by named tensor, never as files.

Two files of one state are not byte-equal: padding between tensors, their order, and ids in
the metadata differ from process to process. Names, element types, shapes and bits do not.
"""

from collections.abc import Iterable
from pathlib import Path

from bisect_debugger.checkpoints.comparison import (
    CheckpointComparison,
    TensorRow,
    TensorStatus,
    Totals,
)
from bisect_debugger.checkpoints.loading import load_checkpoint, natural
from bisect_debugger.checkpoints.model import Checkpoint, NamedTensor, Part
from bisect_debugger.errors import NotComparable, UsageError, printable
from bisect_debugger.metrics import Norms, compare_arrays, gather_norms

_PARTS = list(Part)


class _Tally:
    """Sums over rows, kept while the elements are at hand."""

    def __init__(self) -> None:
        self._rows: list[TensorRow] = []
        self._norms = Norms()

    def add(self, row: TensorRow, norms: Norms | None) -> None:
        self._rows.append(row)
        if norms is not None:
            self._norms.merge(norms)

    def totals(self, part: Part | None) -> Totals:
        both = [row for row in self._rows if row.status in _ELEMENT_BY_ELEMENT]
        return Totals(
            part=part,
            tensors=len(self._rows),
            differing_tensors=sum(row.status is not TensorStatus.EQUAL for row in self._rows),
            elements=sum(row.layout_a.elements for row in both if row.layout_a),
            differing=sum(row.difference.differing for row in both if row.difference),
            rel_fro=self._norms.rel_fro,
        )


_ELEMENT_BY_ELEMENT = (TensorStatus.EQUAL, TensorStatus.DIFFERS)


def compare_checkpoints(a: str | Path, b: str | Path) -> CheckpointComparison:
    """Compare two checkpoints name by name; memory holds one tensor of each at a time.

    Raises:
        UsageError: both name the same file.
        UnreadableCheckpoint: one of them cannot be read.
        NotComparable: they have no name in common.
    """
    if Path(a).exists() and Path(b).exists() and Path(a).samefile(b):
        raise UsageError(
            f"{printable(str(a))} was given twice, and a checkpoint is always equal to itself; "
            "name two files."
        )
    left, right = load_checkpoint(a), load_checkpoint(b)
    tensors_a = {tensor.name: tensor for tensor in left.tensors}
    tensors_b = {tensor.name: tensor for tensor in right.tensors}
    if not tensors_a.keys() & tensors_b.keys():
        raise NotComparable(_nothing_in_common(left, right))
    overall, by_part = _Tally(), {part: _Tally() for part in Part}
    rows = []
    for name, part in _names(left.tensors, right.tensors):
        row, norms = _compare(name, part, tensors_a.get(name), tensors_b.get(name))
        rows.append(row)
        overall.add(row, norms)
        by_part[part].add(row, norms)
    parts = (tally.totals(part) for part, tally in by_part.items())
    return CheckpointComparison(
        a=str(a),
        b=str(b),
        rows=tuple(rows),
        parts=tuple(totals for totals in parts if totals.tensors),
        overall=overall.totals(None),
        left_out_a=left.left_out,
        left_out_b=right.left_out,
    )


def _names(a: Iterable[NamedTensor], b: Iterable[NamedTensor]) -> list[tuple[str, Part]]:
    """Every name once with its part, by part and then in natural order."""
    parts = {tensor.name: tensor.part for tensor in (*b, *a)}
    return sorted(parts.items(), key=lambda item: (_PARTS.index(item[1]), natural(item[0])))


def _compare(
    name: str, part: Part, a: NamedTensor | None, b: NamedTensor | None
) -> tuple[TensorRow, Norms | None]:
    if a is None or b is None:
        status = TensorStatus.ONLY_IN_FIRST if b is None else TensorStatus.ONLY_IN_SECOND
        layouts = (a.layout if a else None, b.layout if b else None)
        return TensorRow(name, part, status, *layouts), None
    if a.layout != b.layout:
        return TensorRow(name, part, TensorStatus.OTHER_LAYOUT, a.layout, b.layout), None
    values_a, values_b = a.read(), b.read()
    difference = compare_arrays(values_a, values_b, a.layout)
    norms = None
    if a.layout.shape and ("float" in a.layout.dtype or a.layout.dtype.startswith("complex")):
        norms = Norms()
        gather_norms(norms, values_a, values_b, a.layout)
    status = TensorStatus.EQUAL if difference is None else TensorStatus.DIFFERS
    return TensorRow(name, part, status, a.layout, b.layout, difference), norms


def _nothing_in_common(a: Checkpoint, b: Checkpoint) -> str:
    names = [printable(checkpoint.tensors[0].name, 60) for checkpoint in (a, b)]
    return (
        f"{printable(str(a.path))} and {printable(str(b.path))} have no tensor name in common "
        f"(e.g. {names[0]} and {names[1]}), so they are of different programs or saved under "
        "another key; compare two checkpoints of one trainer."
    )
