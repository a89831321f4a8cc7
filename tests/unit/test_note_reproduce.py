"""The note's last block is pasted into a shell, beside the runs it was made from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_debugger.note.conditions import render_reproduce
from bisect_debugger.twins import open_pair
from tests.runs import plain_steps, write_run
from tests.unit.markdown_reading import fences

TRAINER = """
import sys
from pathlib import Path
words = [word.rpartition("=")[2] for word in sys.argv[1:] if ".h5" in word]
# Like a recording: it never overwrites.
Path(words[-1]).open("x").close()
print(sys.argv[1:])
"""

COMPARE = """
bisect-debugger() {
    printf '%s\\n' "$@"
    [ -e "$2" ] && [ -e "$3" ] && [ "$2" != "$3" ] && echo both are there
}
"""


def block_of(a: Path, b: Path) -> str:
    with open_pair(a, b) as pair:
        (block,) = fences(render_reproduce(pair), "sh")
    return block


def recorded(path: Path, *argv: str) -> Path:
    return write_run(path, plain_steps(), environment={"argv": json.dumps(argv)})


def pasted(block: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", COMPARE + block],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "out",
    ["--out={}", "runs/{}", "it's here/{}", "/elsewhere on disk/{}", "--save path={}"],
    ids=["option", "folder", "quote", "absolute", "blank"],
)
def test_it_records_anew_and_compares_what_it_recorded(out: str, tmp_path: Path) -> None:
    trainer = tmp_path / "train.py"
    trainer.write_text(TRAINER)
    a, b = (
        recorded(
            tmp_path / f"{name}.h5",
            sys.executable,
            "train.py",
            "--seed",
            "1",
            out.format(f"{name}.h5"),
        )
        for name in "ab"
    )
    block = block_of(a, b)
    # Any number of times: each has a folder of its own.
    for _ in range(2):
        assert pasted(block, tmp_path).endswith("both are there\n")


def test_the_words_of_the_commands_are_kept(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a.h5", "python", "train.py", "--out", ".demo/1/a.h5", "--tag", "x y")
    b = recorded(tmp_path / "b.h5", "python", "train.py", "--out=b.h5")
    assert block_of(a, b).splitlines() == [
        "again=$(mktemp -d)",
        "python train.py --out \"$again\"/a.h5 --tag 'x y'",
        'python train.py --out="$again"/b.h5',
        'bisect-debugger compare "$again"/a.h5 "$again"/b.h5',
    ]


def test_runs_of_one_name_get_two(tmp_path: Path) -> None:
    for side in "xy":
        (tmp_path / side).mkdir()
    runs = [recorded(tmp_path / side / "run.h5", "python", "t.py", "run.h5") for side in "xy"]
    assert block_of(*runs).splitlines()[1:] == [
        'python t.py "$again"/1-run.h5',
        'python t.py "$again"/2-run.h5',
        'bisect-debugger compare "$again"/1-run.h5 "$again"/2-run.h5',
    ]


def test_what_no_command_says_is_not_made_up(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a.h5", "python", "train.py")
    b = write_run(tmp_path / "b.h5", plain_steps())
    assert block_of(a, b).splitlines()[1:] == [
        '# this command does not name the file a.h5; let it record into "$again"/a.h5',
        "python train.py",
        '# the command of the run b.h5 was not recorded; record it again as "$again"/b.h5',
        'bisect-debugger compare "$again"/a.h5 "$again"/b.h5',
    ]
