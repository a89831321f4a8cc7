"""`open --screenshot`: one screen without a terminal, and what is refused."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.e2e.command_line import cli
from tests.runs import nudged, plain_steps, values, write_run


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    a = write_run(tmp_path / "a.h5", plain_steps())
    return a, write_run(tmp_path / "b.h5", plain_steps(s1_out=nudged(values(21))))


def test_a_screen_as_text_at_a_size(twins: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "shot.txt"
    done = cli(
        *("open", "--screenshot", target, "--screen", "buffer", "--size", "120x30"),
        *(*twins, "--ascii"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[0] == " Buffer: net.head.out"
    assert len(lines) == 30
    assert 80 < max(map(len, lines)) <= 120
    assert target.read_text().isascii()


def test_a_screen_as_svg(twins: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "shot.svg"
    assert cli("open", "--screenshot", target, "--screen", "timeline", *twins).returncode == 0
    words = "".join(ElementTree.fromstring(target.read_text(encoding="utf-8")).itertext())
    assert "Timeline:\xa04\xa0steps" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--screenshot", "f.svg", "--screen", "nope"],
            "screens are verdict, trail, timeline,",
        ),
        (["--screenshot", "f.png"], "neither .svg nor .txt"),
        (["--screenshot", "there.svg"], "exists already"),
        (["--screenshot", "none/f.svg"], "no such directory"),
        (["--screenshot", "f.svg", "--size", "120"], "is no size of a terminal"),
        (["--screenshot", "f.svg", "--size", "9x9"], "is no size of a terminal"),
        (["--screen", "trail"], "add --screenshot F.svg"),
        (["--size", "80x24"], "add --screenshot F.svg"),
    ],
)
def test_what_makes_no_picture_is_refused(
    twins: tuple[Path, Path], tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "there.svg").write_text("mine")
    done = cli("open", *arguments, *twins, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "there.svg").read_text() == "mine"
    assert not (tmp_path / "f.svg").exists()


def test_an_old_picture_is_replaced_when_asked(twins: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("old")
    assert cli("open", "--screenshot", target, "--force", *twins).returncode == 0
    assert target.read_text(encoding="utf-8").startswith(" Verdict: diverged")


def test_a_run_that_cannot_be_read_makes_no_picture(tmp_path: Path) -> None:
    good = write_run(tmp_path / "a.h5", plain_steps())
    (tmp_path / "b.h5").write_bytes(b"\x89HDF\r\n\x1a\nnothing")
    done = cli("open", "--screenshot", tmp_path / "f.svg", good, tmp_path / "b.h5")
    assert done.returncode == 3
    assert "b.h5" in done.stderr
    assert not (tmp_path / "f.svg").exists()
