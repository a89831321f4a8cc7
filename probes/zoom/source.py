"""Which line of the program a call comes from, below torch, the standard library and us."""

import linecache
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.autograd import graph as autograd_graph

from probes.module_calls import CALL
from probes.paths import short_path

AROUND = 3
"""Lines that are shown before and after the one that is meant."""

_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator was called.

    Attributes:
        line: ``file:line`` of the innermost frame of the program, or empty.
        file: the file of that frame as Python knows it.
        number: the line in it.
        module: the innermost module whose forward is running, or None.
        engine: the autograd engine is at work: a backward pass goes on.
        inside: the frame runs inside the engine, so it is the program's own backward or a hook.
    """

    line: str
    file: str
    number: int
    module: Any
    engine: bool
    inside: bool


def place_of(frame: FrameType | None) -> Place:
    """The place of a call.

    A frame whose code has a real file is preferred over one of code that was made from text, which
    has no line that could be shown.

    Args:
        frame: the innermost frame.
    """
    found = textual = module = None
    engine = inside = False
    while frame is not None:
        code = frame.f_code
        if code is CALL:
            if module is None and not engine:
                module = frame.f_locals.get("self")
        elif code is _ENGINE:
            engine, inside = True, found is not None
        elif found is None and is_the_programs(code):
            if not code.co_filename.startswith("<"):
                found = (code.co_filename, frame.f_lineno)
            elif textual is None:
                textual = (code.co_filename, frame.f_lineno)
        frame = frame.f_back
    file, number = found or textual or ("", 0)
    line = f"{short_path(file)}:{number}" if file else ""
    return Place(line, file, number, module, engine, inside)


def is_the_programs(code: CodeType) -> bool:
    """The code belongs to the program or a library it uses, and not to what lies below it."""
    known = _known.get(id(code))
    if known is None:
        # The code is kept, so that its id stays its own.
        known = _known[id(code)] = (code, _is_the_programs(code.co_filename))
    return known[1]


def excerpt(file: str, number: int) -> tuple[int, list[str]]:
    """Number of the first line, and the lines around one; none where the source is not there."""
    lines = linecache.getlines(file)
    if not 1 <= number <= len(lines):
        return 0, []
    first = max(number - AROUND, 1)
    shown = lines[first - 1 : number + AROUND]
    return first, [line.rstrip("\n")[:_LONGEST_LINE] for line in shown]


def _is_the_programs(file: str) -> bool:
    if file.startswith("<"):
        return not file.startswith(_MADE)
    path = file.replace("\\", "/")
    if any(part in path for part in _INSTALLED):
        return not path.startswith(_TORCH)
    return not path.startswith((_TORCH, *_OURS, *_STANDARD)) and "torchinductor_" not in path


_MADE = ("<frozen ", "<eval_with_key>", "<torch_package", "<__array_function__", "<@beartype")
_INSTALLED = ("/site-packages/", "/dist-packages/")


def _folder(path: str | Path) -> str:
    return str(path).replace("\\", "/").rstrip("/") + "/"


_TORCH = _folder(Path(torch.__file__).parent)
_HOME = Path(__file__).resolve().parents[2]
_OURS = (_folder(_HOME / "probes"), _folder(_HOME / "bisect_debugger"))
_STANDARD = tuple({_folder(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
_ENGINE = autograd_graph._engine_run_backward.__code__
_known: dict[int, tuple[CodeType, bool]] = {}
