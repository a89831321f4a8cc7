"""Telling optimizer records and copies of a model apart from the model, by name."""

import re

from bisect_debugger.checkpoints.model import Part

_SEPARATORS = re.compile(r"[./\[\]:]+")

_OPTIMIZER_WORDS = frozenset(
    {
        "opt",
        "opt_state",
        "param_groups",
        "exp_avg",
        "exp_avg_sq",
        "exp_inf",
        "max_exp_avg_sq",
        "momentum_buffer",
        "square_avg",
        "grad_avg",
        "acc_delta",
        "adam_m",
        "adam_v",
    }
)
"""Names of torch.optim's state, and what trainers call its container."""

_COPY_WORDS = frozenset({"teacher", "target", "ema", "swa", "averaged", "shadow"})
_OTHER_WORDS = frozenset({"rng", "generator", "scheduler", "scaler", "sampler", "dataloader"})


def part_of(name: str) -> Part:
    """What sort of record a tensor of this dotted name belongs to.

    Optimizer words count anywhere in the name. Words of a copy or of other state count in the
    first piece only: a module deep inside a model may well be called ``target``.
    """
    pieces = [piece for piece in _SEPARATORS.split(name.lower()) if piece]
    if any(piece in _OPTIMIZER_WORDS or piece.startswith("optim") for piece in pieces):
        return Part.OPTIMIZER
    words = set(pieces[0].split("_")) if pieces else set()
    if words & _COPY_WORDS:
        return Part.COPY
    return Part.OTHER if words & _OTHER_WORDS else Part.MODEL
