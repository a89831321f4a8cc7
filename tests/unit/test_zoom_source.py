"""Which line of the program an operator is told to come from."""

import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import torch

import probes
from probes.zoom.source import Place, excerpt, is_the_programs, place_of

HERE = Path(__file__).name


def line_here(text: str) -> int:
    """Number of the only line of this file that holds a text behind it."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (found,) = [n for n, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {text}")]
    return found


def seen() -> Place:
    """The place of the caller's call; this function stands for torch."""
    return place_of(sys._getframe(1))


def test_a_lambda_and_a_comprehension_have_their_own_lines() -> None:
    look = {"up": lambda _: seen()}  # lambda
    in_lambda = look["up"](0)
    (in_comprehension,) = [
        seen()  # comprehension
        for _ in range(1)
    ]
    (in_generator,) = tuple(
        seen()  # generator
        for _ in range(1)
    )
    assert in_lambda.number == line_here("lambda")
    assert in_comprehension.number == line_here("comprehension")
    assert in_generator.number == line_here("generator")
    assert in_lambda.line.endswith(f"{HERE}:{in_lambda.number}")


def test_what_lies_below_the_program_is_passed_over() -> None:
    found: list[Place] = []

    class Watching(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False)  # type: ignore[no-any-return]

        def inner(self, x: torch.Tensor) -> torch.Tensor:
            found.append(seen())  # inner
            return x

    module = Watching()
    module(torch.ones(1))
    (place,) = found
    assert place.number == line_here("inner")
    assert place.module is module
    assert not place.engine


def test_in_a_backward_the_frames_inside_the_engine_are_told_apart() -> None:
    found: list[Place] = []

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            found.append(seen())  # backward
            return grads[0]

    x = torch.ones(1, requires_grad=True)
    Own.apply(x).sum().backward()  # type: ignore[no-untyped-call]
    (place,) = found
    assert (place.engine, place.inside) == (True, True)
    assert place.number == line_here("backward")


@pytest.mark.parametrize(
    ("file", "theirs"),
    [
        ("/opt/mine/train.py", True),
        ("/usr/lib/python3/site-packages/library/loops.py", True),
        (f"{Path(torch.__file__).parent}/nn/functional.py", False),
        (f"{Path(torch.__file__).parent}_addons/ops.py", True),
        (f"{Path(probes.__file__).parent}/zoom/mode.py", False),
        (f"{sysconfig.get_path('stdlib')}/contextlib.py", False),
        ("<string>", True),
        ("<stdin>", True),
        ("<frozen importlib._bootstrap>", False),
        ("<eval_with_key>.7", False),
    ],
)
def test_whose_code_a_file_is(file: str, theirs: bool) -> None:
    code = compile("pass", file, "exec")
    assert is_the_programs(code) is theirs


def test_code_made_from_text_is_told_by_the_line_that_ran_it() -> None:
    names: dict[str, Any] = {"seen": seen}
    exec(compile("\n\nfound = seen()", "<string>", "exec"), names)  # text
    assert names["found"].number == line_here("text")


def test_a_program_without_any_file_is_told_by_its_text() -> None:
    code = compile("\nfound = seen()", "<string>", "exec")
    names: dict[str, Any] = {"seen": lambda: _only_text(sys._getframe(1))}
    exec(code, names)
    assert names["found"].line == "<string>:2"


def _only_text(frame: Any) -> Place:
    """The place of a frame, as if nothing had called it."""

    class Alone:
        f_code, f_lineno, f_back = frame.f_code, frame.f_lineno, None

    return place_of(Alone())  # type: ignore[arg-type]


def test_lines_around_are_clipped_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "four.py"
    file.write_text("a\nb\nc\nd\n", encoding="utf-8")
    assert excerpt(str(file), 2) == (1, ["a", "b", "c", "d"])
    assert excerpt(str(file), 9) == (0, [])
    assert excerpt("<string>", 1) == (0, [])
