"""Creating a run file: header, environment and every dataset, before the first event."""

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import h5py

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format import schema
from bisect_debugger.format.digests import DIGEST_ALGORITHM
from bisect_debugger.format.groups import Group
from probes.descriptor import divert, reserve
from probes.ranks import rank_and_size
from probes.selection import Selection

FIRST_BYTES = 1 << 20
"""Room that is reserved before the file is laid out; an empty run takes about a tenth."""

_METADATA_CACHE = 32 << 20
_CHUNK_CACHE = 0
"""Bytes of chunks that HDF5 keeps of each dataset: rows are only ever appended, in blocks, so none
is asked for again but the last one of a compressed text. What it kept would look like a leak for as
long as it takes to fill."""
_FACT_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Header:
    """What is known before the first event.

    Attributes:
        level: ``coarse``, ``digest``, ``stats`` or ``full``.
        window: recorded steps as text, or empty for all.
        rank: rank of this process.
        world_size: number of processes.
        environment: facts of machine and process, name -> text.
        created: ISO 8601 time in UTC; now by default.
        selection: what the recording was asked to take, by the names of `schema.SELECTION`.
    """

    level: str = "digest"
    window: str = ""
    rank: int = 0
    world_size: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    created: str = ""
    selection: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, selection: Selection, facts: dict[str, str]) -> "Header":
        """The header of a recording by this process.

        Args:
            selection: what is recorded.
            facts: the environment.
        """
        whole = selection.first == 0 and selection.last is None
        last = "" if selection.last is None else selection.last
        rank, world_size = rank_and_size()
        return cls(
            level=selection.level,
            window="" if whole else f"{selection.first}:{last}",
            rank=rank,
            world_size=world_size,
            environment=facts,
            selection=_selection_facts(selection),
        )


def create(path: Path, header: Header) -> h5py.File:
    """Create the file, with every dataset, in single-writer mode.

    Raises:
        UsageError: the file exists already, or cannot be created.
    """
    if "\0" in str(path):
        raise UsageError(
            f"{printable(str(path))} cannot be created (a null character ends a name); name "
            "another file."
        )
    try:
        is_taken = path.exists() or path.is_symlink()
    except (OSError, ValueError) as error:
        raise _cannot_create(path, error) from error
    if is_taken:
        raise UsageError(
            f"{printable(str(path))} exists already and a recording never overwrites one; name "
            "another file or remove it."
        )
    try:
        file = h5py.File(path, "x", libver=("v110", "v110"), rdcc_nbytes=_CHUNK_CACHE)
    except OSError as error:
        raise _cannot_create(path, error) from error
    descriptor = descriptor_of(file)
    try:
        reserve(descriptor, 0, FIRST_BYTES)
        _lay_out(file, header)
    except BaseException as error:
        # Closing lays down what was begun, for which there may be no room.
        divert(descriptor)
        file.close()
        path.unlink(missing_ok=True)
        if isinstance(error, (OSError, RuntimeError, ValueError)):
            raise _cannot_create(path, error) from error
        raise
    return file


def full_path(path: str | Path) -> Path:
    """The path from the root; a trainer may change its working directory.

    Raises:
        UsageError: the working directory is no more.
    """
    try:
        return Path(path).absolute()
    except OSError as error:
        raise UsageError(
            f"The working directory is no more, so {printable(str(path))} lies nowhere; name the "
            "file by its full path."
        ) from error


def descriptor_of(file: h5py.File) -> int:
    """Descriptor of the file on disk."""
    return int(file.id.get_vfd_handle())


def move_to_free_name(old: Path, new: Path) -> None:
    """Rename a file, which may be open; an existing one is never replaced.

    Raises:
        OSError: the new name is taken, or cannot be given.
    """
    try:
        # A second link refuses a name that is taken; a rename would replace the file.
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:
        # File systems without links: the name is taken first, and replaced by its owner.
        with new.open("x"):
            old.replace(new)
        return
    old.unlink()


def _lay_out(file: h5py.File, header: Header) -> None:
    _keep_metadata(file)
    file.attrs["format"] = schema.FORMAT_NAME
    file.attrs["version"] = schema.FORMAT_VERSION
    file.attrs["digest_algorithm"] = DIGEST_ALGORITHM
    file.attrs["level"] = header.level
    file.attrs["window"] = header.window
    for name in schema.SELECTION:
        text = schema.fit_name(header.selection.get(name, ""), _FACT_BYTES)
        file.attrs[name] = text.decode()
    file.attrs["groups"] = [group.label for group in Group]
    file.attrs["rank"] = header.rank
    file.attrs["world_size"] = header.world_size
    file.attrs["created"] = header.created or datetime.now(UTC).isoformat(timespec="seconds")
    environment = file.create_group("environment")
    for name, value in header.environment.items():
        # The bytes of argv and of variables need not be text; an attribute must be.
        environment.attrs[schema.fit_name(name).decode()] = schema.fit_name(
            value, _FACT_BYTES
        ).decode()
    for column in schema.ALL_COLUMNS:
        width = (column.width,) if column.width else ()
        file.create_dataset(
            column.path,
            shape=(0, *width),
            maxshape=(None, *width),
            chunks=(column.chunk_rows, *width),
            dtype=column.dtype,
            compression="gzip" if column.compressed else None,
            shuffle=column.compressed,
        )
    file.swmr_mode = True


def _selection_facts(selection: Selection) -> dict[str, str]:
    """What was asked for, so that twins of another selection are not taken for twins."""
    payload = selection.payload
    return {
        "selected_groups": ",".join(group.label for group in sorted(selection.groups)),
        "include": json.dumps(selection.include),
        "exclude": json.dumps(selection.exclude),
        "heads": json.dumps(selection.heads),
        "payload_window": "" if payload is None else f"{payload[0]}:{payload[1]}",
    }


def _keep_metadata(file: h5py.File) -> None:
    """Let HDF5 keep what it knows of the file, so that closing never has to read it back."""
    cache = file.id.get_mdc_config()
    cache.set_initial_size = True
    cache.initial_size = cache.min_size = cache.max_size = _METADATA_CACHE
    cache.incr_mode = cache.flash_incr_mode = cache.decr_mode = 0
    file.id.set_mdc_config(cache)


def _cannot_create(path: Path, error: Exception) -> UsageError:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
    return UsageError(
        f"{printable(str(path))} cannot be created ({printable(reason)}); name a file in a folder "
        "that you can write to and that has room."
    )
