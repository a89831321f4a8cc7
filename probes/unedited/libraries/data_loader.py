"""`torch.utils.data.DataLoader`: the order of indices, and each batch as it is handed over."""

from typing import Any

from torch.utils.data import dataloader

from bisect_debugger.format.groups import Group
from probes.unedited.libraries.methods import hook
from probes.unedited.libraries.numbered import Numbered

_OURS = "_bisect_debugger_name"


def install(session: Any) -> None:
    """Hook the iterators that every loader makes."""
    names = Numbered("loader")

    def made(iterator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        loader = args[0] if args else kwargs.get("loader")
        setattr(iterator, _OURS, names.of(loader))

    def see(iterator: Any, role: str, value: Any) -> None:
        if session.recording is not None:
            name = getattr(iterator, _OURS, "loader")
            session.recording.observe(Group.DATA, name, role, value)

    base = dataloader._BaseDataLoaderIter
    hook(base, {"__init__": made})
    hook(base, {"__next__": lambda it, args, kwargs, batch: see(it, "batch", batch)})
    hook(base, {"_next_index": lambda it, args, kwargs, index: see(it, "indices", index)})
