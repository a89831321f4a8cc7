"""Records the sample runs again and writes the note they lead to.

    python -m sample_runs.regenerate            # runs and notes
    python -m sample_runs.regenerate --findings # only what further runs tell, and the notes
    python -m sample_runs.regenerate --notes    # only the notes, from what is there

Each trainer runs twice in processes of its own, as a user's would. The samples must show what
they are there for, so the outcome is checked before the old files are replaced. Tests hold the
README and the screens of the terminal UI to these runs: after recording, update both.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from bisect_debugger.diagnosis import Diagnosis, Verdict, diagnose_pair
from bisect_debugger.diagnosis.findings import NAME, keep
from bisect_debugger.driver.plan import Plan
from bisect_debugger.driver.twins import run_twins
from bisect_debugger.note import render_note
from bisect_debugger.twins import open_pair

HERE = Path(__file__).resolve().parent
SAMPLES = {"two_origins": Verdict.DIVERGED, "clean": Verdict.BIT_EQUAL}
MOST_BYTES = 1_000_000
BUDGET = 240.0
"""Seconds for experiments."""

_SAID_BY_MORE = ("The experiments", "With all knobs", "Proven:", "Not isolated")
"""How remarks begin that are about further runs, and not about the recordings."""


def record(sample: str, folder: Path) -> None:
    """Record both twins of a sample into a folder, as ``a.h5`` and ``b.h5``."""
    # The trainer runs beside its recordings, so that no path of this machine stands in them.
    shutil.copy(HERE / sample / "train.py", folder)
    for name in ("a", "b"):
        command = [sys.executable, "train.py", "--out", f"{name}.h5"]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def explain(folder: Path) -> None:
    """Run twins of the bare trainer in a folder, and keep what they tell beside the recordings.

    Operators, experiments and isolation cost runs of their own, which are not shipped; what they
    told is, in ``findings.json``.
    """
    with chdir(folder), tempfile.TemporaryDirectory() as scratch:
        plan = Plan(
            (sys.executable, "train.py"),
            folder=Path(scratch, "twins"),
            explain=True,
            budget=BUDGET,
            repro=Path(scratch, "repro"),
        )
        more = run_twins(plan).diagnosis
        with open_pair("a.h5", "b.h5") as pair:
            Path(NAME).unlink(missing_ok=True)
            plain = diagnose_pair(pair)
            keep(_told_by(plain, more), plain, pair)


def _told_by(plain: Diagnosis, more: Diagnosis) -> Diagnosis:
    """The diagnosis with what further runs of the trainer told about the same origins."""
    found = {(origin.component, origin.step): origin for origin in more.origins}
    missing = [o.component for o in plain.origins if (o.component, o.step) not in found]
    if missing:
        raise SystemExit(f"the further runs did not show {', '.join(missing)}; run it again")
    origins = []
    for origin in plain.origins:
        other = found[origin.component, origin.step]
        known = [line for line in other.evidence if line in origin.evidence]
        added = other.evidence[: other.evidence.index(known[0])] if known else ()
        proof = [line for line in other.advice if line not in origin.advice] if other.proven else ()
        origins.append(
            replace(
                origin,
                proven=other.proven,
                operator=other.operator,
                location=other.location,
                zoom=other.zoom,
                evidence=(*added, *origin.evidence),
                advice=(*proof, *origin.advice),
            )
        )
    isolation = more.isolation and replace(more.isolation, script="")
    said = tuple(remark for remark in more.remarks if remark.startswith(_SAID_BY_MORE))
    return replace(
        plain,
        origins=tuple(origins),
        experiments=more.experiments,
        isolation=isolation,
        remarks=(*said, *plain.remarks),
    )


def note_of(folder: Path, expected: Verdict) -> str:
    """The note of the twins in a folder, after checking that they show what they should.

    Raises:
        SystemExit: another verdict than expected, or a file that is too large to ship.
    """
    # From inside the folder, so that its path does not stand in the note.
    with chdir(folder), open_pair("a.h5", "b.h5") as pair:
        diagnosis = diagnose_pair(pair)
        if diagnosis.verdict is not expected:
            raise SystemExit(f"{folder}: {diagnosis.sentence}")
        for run in diagnosis.runs:
            if Path(run.path).stat().st_size > MOST_BYTES:
                raise SystemExit(f"{run.path} is larger than {MOST_BYTES} bytes")
        return render_note(diagnosis, pair)


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the sample runs again.")
    parser.add_argument("--notes", action="store_true", help="only write the notes again")
    parser.add_argument("--findings", action="store_true", help="only findings and notes")
    options = parser.parse_args()
    shipped = options.notes or options.findings
    for sample, expected in SAMPLES.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            if shipped:
                shutil.copytree(HERE / sample, folder, dirs_exist_ok=True)
            else:
                record(sample, folder)
            if expected is Verdict.DIVERGED and not options.notes:
                explain(folder)
            note = note_of(folder, expected)
            for name in ("a.h5", "b.h5", NAME):
                if (folder / name).exists():
                    shutil.copy(folder / name, HERE / sample)
        (HERE / sample / "note.md").write_text(note, encoding="utf-8")
        print(f"{sample}: {'written' if shipped else 'recorded'} again")


if __name__ == "__main__":
    main()
