"""What runs before a trainer has imported torch imports neither torch nor numpy itself."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

EARLY = """
import sys

from probes.seeding import SeedingCalls

heavy = ("torch", "numpy", "h5py")
assert not [name for name in heavy if name in sys.modules]
notes = []
calls = SeedingCalls(lambda *note: notes.append(note[:2]))
import random
random.seed(1)
import numpy.random
calls.update()
numpy.random.seed(2)
import torch
calls.update()
calls.update()
torch.manual_seed(3)
torch.Generator().manual_seed(4)
print(notes)
calls.remove()
random.seed(5), numpy.random.seed(5), torch.manual_seed(5), torch.Generator().manual_seed(5)
assert len(notes) == 4

import probes
from probes.attach import attach
assert probes.attach is attach
assert probes.Recording.__name__ == "Recording"
"""


def test_seeding_calls_before_torch_are_seen_without_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(
        [
            ("random.seed", "1"),
            ("numpy.random.seed", "2"),
            ("torch.manual_seed", "3"),
            ("torch.Generator.manual_seed", "4"),
        ]
    )


LATE = """
import numpy
import sys
import torch
from probes.seeding import SeedingCalls

notes = []
calls = SeedingCalls(lambda *note: notes.append(note[:2]))
numpy.random.default_rng(7)
import sympy
assert notes == [("numpy.random.default_rng", "7")], notes
"""


def test_what_numpy_loads_late_and_libraries_keep_to_themselves() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LATE],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
