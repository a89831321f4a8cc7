"""How steps are called wherever a person reads of them."""

from bisect_debugger.format.schema import INIT_STEP


def step_words(step: int) -> str:
    """``init`` for -1, else ``step N``."""
    return "init" if step == INIT_STEP else f"step {step}"
