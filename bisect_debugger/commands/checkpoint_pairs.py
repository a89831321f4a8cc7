"""What `compare` does with checkpoints: every pair by named tensor, in text or JSON."""

import argparse
import sys
from dataclasses import asdict
from itertools import combinations
from typing import Any

from bisect_debugger.checkpoints.compare import compare_checkpoints
from bisect_debugger.checkpoints.comparison import CheckpointComparison, TensorRow, TensorStatus
from bisect_debugger.commands.output import say, write
from bisect_debugger.diagnosis import Verdict
from bisect_debugger.diagnosis.as_json import metrics_as_plain, to_json
from bisect_debugger.errors import UsageError

COMPARISON_VERSION = 1
"""Version of the JSON; docs/json.md describes it."""

_TENSORS_LISTED = 20


def run_checkpoints(arguments: argparse.Namespace) -> int:
    """Compare every pair; returns 0 where all are equal or within the tolerance, else 1."""
    if arguments.note is not None:
        raise UsageError("A note tells how a run went; from checkpoints, --json can be written.")
    comparisons = [compare_checkpoints(a, b) for a, b in combinations(arguments.runs, 2)]
    verdicts = [_verdict(comparison, arguments.tolerance) for comparison in comparisons]
    if arguments.json is not None:
        content = to_json(_as_plain(comparisons, verdicts)) + "\n"
        write(arguments.json, content, force=arguments.force)
    text = "\n".join(
        _text(comparison, verdict, verbose=arguments.verbose)
        for comparison, verdict in zip(comparisons, verdicts, strict=True)
    )
    if arguments.json == "-":
        print(text, end="", file=sys.stderr)
    else:
        say(text, end="")
    return 1 if Verdict.DIVERGED in verdicts else 0


def _verdict(comparison: CheckpointComparison, tolerance: float | None) -> Verdict:
    if comparison.equal:
        return Verdict.BIT_EQUAL
    if tolerance is not None and comparison.within(tolerance):
        return Verdict.WITHIN_TOLERANCE
    return Verdict.DIVERGED


def _text(comparison: CheckpointComparison, verdict: Verdict, *, verbose: bool) -> str:
    limit = len(comparison.rows) if verbose else _TENSORS_LISTED
    words = verdict.value.replace("within-", "within ").capitalize()
    return f"{words}.\n{comparison.render(limit)}"


def _as_plain(comparisons: list[CheckpointComparison], verdicts: list[Verdict]) -> dict[str, Any]:
    worst = max(verdicts, key=lambda verdict: verdict.gravity)
    return {
        "checkpoint_comparison_version": COMPARISON_VERSION,
        "verdict": worst,
        "comparisons": [
            {
                "a": comparison.a,
                "b": comparison.b,
                "verdict": verdict,
                "overall": asdict(comparison.overall),
                "parts": [asdict(totals) for totals in comparison.parts],
                "tensors": [
                    _tensor(row) for row in comparison.rows if row.status is not TensorStatus.EQUAL
                ],
                "left_out_a": [asdict(entry) for entry in comparison.left_out_a],
                "left_out_b": [asdict(entry) for entry in comparison.left_out_b],
            }
            for comparison, verdict in zip(comparisons, verdicts, strict=True)
        ],
    }


def _tensor(row: TensorRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "part": row.part,
        "status": row.status,
        "layout_a": row.layout_a.text if row.layout_a else None,
        "layout_b": row.layout_b.text if row.layout_b else None,
        "metrics": metrics_as_plain(row.difference) if row.difference else None,
    }
