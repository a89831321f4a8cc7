"""A process group of this process alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch.distributed as dist


@contextmanager
def one_process(folder: Path) -> Iterator[None]:
    """Joined while the context lasts; it meets in a file and takes no port."""
    dist.init_process_group(
        "gloo", init_method=f"file://{folder / 'meeting'}", rank=0, world_size=1
    )
    try:
        yield
    finally:
        dist.destroy_process_group()
