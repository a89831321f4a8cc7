"""What somebody types to go somewhere: a step, `init`, `first`, a part of a name."""

from dataclasses import dataclass

from bisect_debugger.errors import printable
from bisect_debugger.format.schema import INIT_STEP

_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go: to the first divergence, to a step, or to a name."""

    first: bool = False
    step: int | None = None
    name: str = ""


def read_target(typed: str) -> Target | str:
    """Understand what was typed; where it makes no sense, a sentence that says why."""
    text = typed.strip()
    if text.lower() == "first":
        return Target(first=True)
    word = text[4:].strip() if text.lower().startswith(("step ", "step-")) else text
    if word.lower() == "init":
        return Target(step=INIT_STEP)
    if _is_number(word):
        if len(word) > _MOST_DIGITS:
            return "no run has that many steps"
        return Target(step=int(word))
    if word != text or word.replace(",", "").replace("_", "").isnumeric():
        return f"{printable(word, 30)} is no step: type digits alone, or init, or a name"
    if not text:
        return "nothing was typed: the number of a step, init, part of a name, or first"
    return Target(name=text)


def _is_number(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdecimal()
