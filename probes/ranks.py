"""Which of several processes of one training this is."""

import os

import torch


def rank_and_size() -> tuple[int, int]:
    """Rank and number of processes; (0, 1) outside distributed training.

    The process group tells where there is one, else the variables that launchers set.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return _variable("RANK", 0), _variable("WORLD_SIZE", 1)


def _variable(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() else default
