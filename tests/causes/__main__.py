"""Runs the benchmark: ``python -m tests.causes [--only NAME] [--jobs N] [--no-explain]``."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.causes.case import Case, Clean
from tests.causes.cases import CASES, CLEAN
from tests.causes.held_out import HELD_OUT
from tests.causes.judging import Outcome, judge
from tests.causes.totals import line_of, totals_of


def main() -> int:
    """Run what was asked for, a line each, and the totals.

    Returns:
        0 where every requirement holds.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.causes", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--set", choices=("tuned", "held-out", "all"), default="all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-explain", action="store_true", help="without experiments")
    parser.add_argument("--budget", default="5m", help="time for the experiments of a case")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder for the diagnoses")
    asked = parser.parse_args()
    outcomes: list[Outcome] = []
    for outcome in _outcomes(_chosen(asked), asked):
        outcomes.append(outcome)
        print(line_of(outcome), flush=True)
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            text = json.dumps(outcome.diagnosis, indent=1)
            (asked.keep / f"{outcome.case.script}.json").write_text(text, encoding="utf-8")
    totals = totals_of(outcomes, explained=not asked.no_explain)
    print("\n".join(totals.lines()))
    return 0 if totals.holds else 1


def _chosen(asked: argparse.Namespace) -> list[Case | Clean]:
    sets: dict[str, tuple[Case | Clean, ...]] = {
        "tuned": (*CASES, *CLEAN),
        "held-out": HELD_OUT,
        "all": (*CASES, *HELD_OUT, *CLEAN),
    }
    known = {case.script: case for case in sets[asked.set]}
    found = [known[name] for name in asked.only or known if name in known]
    unknown = set(asked.only) - set(known)
    if unknown:
        sys.exit(f"There is no case called {', '.join(sorted(unknown))}.")
    return found


def _outcomes(cases: Iterable[Case | Clean], asked: argparse.Namespace) -> Iterator[Outcome]:
    def run(case: Case | Clean) -> Outcome:
        return judge(case, explain=not asked.no_explain, budget=asked.budget)

    with ThreadPoolExecutor(asked.jobs) as pool:
        yield from pool.map(run, cases)


if __name__ == "__main__":
    sys.exit(main())
