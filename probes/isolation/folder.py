"""Writes the folder: the script, and its inputs as tensors and plain values."""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from probes.isolation import NotIsolated, script
from probes.isolation.definitions import definitions
from probes.isolation.recipes import MAIN, Recipes
from probes.memory import unseen


def streams(recipes: Recipes) -> dict[str, Any]:
    """The state of every global generator, as recipes."""
    found = {
        "python": recipes.of(random.getstate(), "random"),
        "numpy": recipes.of(np.random.get_state(), "numpy.random"),
    }
    with unseen():
        found["torch"] = recipes.of(torch.get_rng_state(), "torch")
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            found["cuda"] = recipes.of(torch.cuda.get_rng_state_all(), "torch.cuda")
    return found


def settings() -> dict[str, Any]:
    """What decides how numbers come out, and where the program's modules are found."""
    return {
        "path": [path for path in sys.path if path and "bootstrap" not in Path(path).parts],
        "threads": torch.get_num_threads(),
        "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "cudnn_deterministic": torch.backends.cudnn.deterministic,
        "matmul_precision": torch.get_float32_matmul_precision(),
    }


def autocast() -> list[str] | None:
    """Device and element type of the autocast that is on, or None."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return [device, str(torch.get_autocast_dtype(device)).removeprefix("torch.")]
    return None


def write(folder: Path, what: str, recipes: Recipes, saved: dict[str, Any]) -> None:
    """Write the folder.

    Args:
        folder: made if it is not there.
        what: what is executed, a clause.
        recipes: tables that the saved values refer to.
        saved: what the script executes.

    Raises:
        NotIsolated: the classes' source cannot be taken.
        OSError: it cannot be written.
    """
    text = Path(script.__file__).read_text(encoding="utf-8").replace("WHAT", what, 1)
    program = _program(recipes)
    folder.mkdir(parents=True, exist_ok=True)
    whole = {**saved, "tensors": recipes.tensors, "objects": recipes.objects}
    with unseen():
        torch.save(whole, folder / "inputs.pt")
    (folder / "repro.py").write_text(text, encoding="utf-8")
    if program:
        (folder / "culprit.py").write_text(program, encoding="utf-8")


def _program(recipes: Recipes) -> str:
    """What is needed of the program's main file, or empty."""
    if not recipes.main:
        return ""
    main = sys.modules[MAIN]
    file = getattr(main, "__file__", None)
    if file is None or not Path(file).is_file():
        raise NotIsolated("its class is defined in a program without a file")
    package = getattr(getattr(main, "__spec__", None), "parent", "") or ""
    found = definitions(Path(file).read_text(encoding="utf-8"), recipes.main, package)
    return f"{found}\n"
