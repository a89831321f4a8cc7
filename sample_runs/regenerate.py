"""Records the sample runs again and writes the note they lead to.

    python -m sample_runs.regenerate            # runs and notes
    python -m sample_runs.regenerate --notes    # only the notes, from the runs that are there

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
from pathlib import Path

from bisect_debugger.diagnosis import Verdict, diagnose_pair
from bisect_debugger.note import render_note
from bisect_debugger.twins import open_pair

HERE = Path(__file__).resolve().parent
SAMPLES = {"two_origins": Verdict.DIVERGED, "clean": Verdict.BIT_EQUAL}
MOST_BYTES = 300_000


def record(sample: str, folder: Path) -> None:
    """Record both twins of a sample into a folder, as ``a.h5`` and ``b.h5``."""
    # The trainer runs beside its recordings, so that no path of this machine stands in them.
    shutil.copy(HERE / sample / "train.py", folder)
    for name in ("a", "b"):
        command = [sys.executable, "train.py", "--out", f"{name}.h5"]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


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
    options = parser.parse_args()
    for sample, expected in SAMPLES.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = HERE / sample if options.notes else Path(scratch)
            if not options.notes:
                record(sample, folder)
            note = note_of(folder, expected)
            if not options.notes:
                for name in ("a.h5", "b.h5"):
                    shutil.copy(folder / name, HERE / sample)
        (HERE / sample / "note.md").write_text(note, encoding="utf-8")
        print(f"{sample}: {'note written' if options.notes else 'recorded'} again")


if __name__ == "__main__":
    main()
