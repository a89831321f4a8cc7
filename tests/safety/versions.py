"""Runs as this release writes them, kept in tests/fixtures so that later ones still read them.

`python -m tests.safety.versions` writes those of the format's present version, where they are not
there yet: a file that was kept is never made anew.
"""

import gzip
import tempfile
from pathlib import Path

import torch

import probes
from bisect_debugger.format.schema import FORMAT_VERSION
from probes import environment

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"

KINDS = ("complete", "incomplete", "full")


def fixture(version: int, kind: str) -> Path:
    """Where a kept run lies, compressed: an empty run is a tenth of a megabyte of headers."""
    return FIXTURES / f"version-{version}-{kind}.h5.gz"


def unpacked(version: int, kind: str, folder: Path) -> Path:
    """A kept run, ready to be opened."""
    path = folder / f"{kind}.h5"
    path.write_bytes(gzip.decompress(fixture(version, kind).read_bytes()))
    return path


def write(kind: str, path: Path) -> None:
    """Record a small trainer."""
    torch.manual_seed(5)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    level = "full" if kind == "full" else "digest"
    try:
        with probes.attach(model, optimizer, out=path, level=level) as recording:
            torch.manual_seed(8)
            recording.record("brain", torch.tensor([0.5, -2.0], dtype=torch.bfloat16))
            recording.record("größe", "\x1b[31mred")
            for step in range(3):
                model(torch.ones(4, 3)).square().mean().backward()
                if kind == "incomplete" and step == 2:
                    raise ValueError("no more")
                optimizer.step()
                optimizer.zero_grad()
    except ValueError:
        assert kind == "incomplete"


def main() -> None:
    """Write what is missing."""
    torch.set_num_threads(1)
    # The facts of whatever machine this is are nobody's business.
    environment.collect = lambda: {"argv": '["train.py"]', "torch": torch.__version__}
    FIXTURES.mkdir(exist_ok=True)
    for kind in KINDS:
        target = fixture(FORMAT_VERSION, kind)
        if target.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "run.h5")
            write(kind, path)
            target.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


if __name__ == "__main__":
    main()
