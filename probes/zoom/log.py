"""The operators of one step, kept in memory and written as lines of JSON beside the run.

Beside, and not into the run: they are there for a few steps of a second pass only, and a reader of
the run needs nothing of them. The first line of a block says what it holds; see docs/format.md.
"""

import json
from collections import deque
from pathlib import Path
from typing import Any

from probes.zoom.source import excerpt

VERSION = 1
MOST_OPERATORS = 50_000
"""Operators of a step that are kept; of a longer one the last ones are."""


class OperatorLog:
    """What was seen of one step.

    Attributes:
        refused: why operators are not seen, or empty.
        closed: the step is over; threads that began in it may still be running.
    """

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.refused = ""
        self.closed = False
        self._operators: deque[dict[str, Any]] = deque(maxlen=MOST_OPERATORS)
        self._seen = 0
        self._lines: dict[str, tuple[str, int]] = {}

    def add(self, operator: dict[str, Any]) -> None:
        """Keep one operator."""
        self._operators.append(operator)
        self._seen += 1

    def line(self, line: str, file: str, number: int) -> None:
        """Remember that a line's text is wanted."""
        if line not in self._lines:
            self._lines[line] = (file, number)

    def write(self, path: Path, step: int) -> None:
        """Append the block of a step.

        Raises:
            OSError: it cannot be written.
        """
        head = {
            "kind": "step",
            "version": VERSION,
            "step": step,
            "operators": len(self._operators),
            "dropped": self._seen - len(self._operators),
            "refused": self.refused,
        }
        used = {operator[key] for operator in self._operators for key in ("line", "made")}
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(head) + "\n")
            for operator in self._operators:
                stream.write(json.dumps(operator, separators=(",", ":")) + "\n")
            for line, (file, number) in self._lines.items():
                first, text = excerpt(file, number)
                if text and line in used:
                    source = {"kind": "source", "line": line, "first": first, "text": text}
                    stream.write(json.dumps(source) + "\n")


def beside(run: Path) -> Path:
    """The file of a run's operators."""
    return run.with_name(f"{run.stem}.operators.jsonl")
