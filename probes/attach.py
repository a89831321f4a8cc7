"""Attaching probes to a trainer: the recording as its user sees it.

with probes.attach(model, optimizer, out="a.h5", heads=["q_head"]) as recording:
    recording.watch(replay_buffer, "sample")
    train(...)
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import torch

from bisect_debugger.errors import UsageError, printable
from bisect_debugger.format import schema
from probes import environment
from probes.names import Added, Names, named_roots
from probes.optimizer_names import Optimizers, named_optimizers
from probes.recording import Recording
from probes.seeding import SeedingCalls
from probes.selection import (
    Selection,
    globs_of,
    groups_of,
    known_digest,
    known_level,
    window_of,
)
from probes.writer import Header, RunWriter
from probes.zoom.window import Zoom

Models = torch.nn.Module | Mapping[str, torch.nn.Module] | Sequence[torch.nn.Module]


def attach(
    model: Models,
    optimizer: Optimizers = None,
    *,
    out: str | Path,
    heads: Iterable[str] = (),
    level: str = "digest",
    steps: str | None = None,
    groups: Iterable[str] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    flush_seconds: float = 1.0,
    fsync: bool = False,
    digest: str | None = None,
    zoom: str | bool = False,
) -> Recording:
    """Attach probes to a trainer and begin a recording.

    Args:
        model: the model, or several as a dict by name or as a list.
        optimizer: the optimizer, or several; each `step()` closes a step of the run.
        out: file to write, which must not exist.
        heads: modules whose events are kept whatever the globs say, by full path or by the
            path below the root.
        level: ``coarse`` (a digest per step and group), ``digest`` (per event), ``stats``
            (also L2 norm, greatest magnitude, NaN and Inf counts) or ``full`` (also content).
        steps: ``A:B`` records steps A to B - 1; all by default.
        groups: labels of the groups to record; all by default.
        include: globs of buffer names to record; all by default.
        exclude: globs of buffer names to leave out.
        flush_seconds: longest time between two flushes to the file.
        fsync: each flush waits until the disk has it, for when the power may fail.
        digest: ``auto`` hashes a tensor on a CUDA device there and every other one on the host;
            ``device`` hashes all as on a device. By default what ``BISECT_DEBUGGER_DIGEST`` says.
        zoom: also record every operator with its line, beside the run; of one module, named like
            a head, or of everything with True. For a few steps only: see ``steps``.

    Raises:
        UsageError: an argument makes no sense; the message says which and why.
    """
    roots, optimizers = named_roots(model), named_optimizers(optimizer)
    names, added = _named(roots)
    first, last = window_of(steps)
    selection = Selection(
        level=known_level(level),
        first=first,
        last=last,
        groups=groups_of(groups),
        include=globs_of(include),
        exclude=globs_of(exclude, "exclude"),
        heads=tuple(_head_path(head, roots, names) for head in globs_of(heads, "heads")),
        digest=known_digest(digest),
    )
    zoomed = _zoomed(zoom, roots, names)
    out, flush_seconds = _path(out), _seconds(flush_seconds)
    header = Header.of(selection, environment.collect())
    writer = RunWriter(out, header, flush_seconds=flush_seconds, fsync=bool(fsync))
    recording = _recording(writer, selection, names, added, optimizers)
    if zoomed is not None:
        end = sys.maxsize if last is None else last
        operators = Zoom(range(first, end), zoomed, digest=selection.digest)
        operators.follow(recording.recorder, names)
        recording.add_probe(operators)
    return recording


def _zoomed(zoom: object, roots: Mapping[str, torch.nn.Module], names: Names) -> str | None:
    """Path of the module whose operators are recorded, empty for all, or None for none.

    Raises:
        UsageError: there is no such module.
    """
    if isinstance(zoom, bool) or zoom is None:
        return "" if zoom else None
    if not isinstance(zoom, str):
        raise UsageError(
            f"zoom was given a {type(zoom).__name__}; name a module, or say True for all."
        )
    return _head_path(zoom, roots, names)


def _path(out: object) -> Path:
    """The file that was named.

    Raises:
        UsageError: it is no path.
    """
    if isinstance(out, (str, Path)):
        return Path(out)
    raise UsageError(
        f"out was given a {type(out).__name__}; name the file that is written, e.g. out='a.h5'."
    )


def _seconds(given: object) -> float:
    """A length of time.

    Raises:
        UsageError: it is none.
    """
    # Not a number is not at least 0 either.
    if isinstance(given, (int, float)) and not isinstance(given, bool) and given >= 0:
        return float(given)
    shown = given if isinstance(given, (int, float)) else f"a {type(given).__name__}"
    raise UsageError(f"flush_seconds was given {shown}; it is a number of seconds, 0 or more.")


def _named(roots: Mapping[str, torch.nn.Module]) -> tuple[Names, Added]:
    """Names for everything under the roots, and what got one."""
    names, added = Names(), Added()
    for name, root in roots.items():
        found = names.add_root(name, root)
        added.modules += found.modules
        added.tensors += found.tensors
    return names, added


def _recording(
    writer: RunWriter,
    selection: Selection,
    names: Names,
    added: Added,
    optimizers: Mapping[str, torch.optim.Optimizer],
) -> Recording:
    """A recording that has seen init; what was begun is undone if that fails."""
    recording = None
    try:
        recording = Recording(writer, selection, names)
        recording.add_probe(SeedingCalls(recording.note_seeding))
        recording.cover(added)
        recording.end_init()
        for name, optimizer in optimizers.items():
            recording.optimizers.add(name, optimizer)
        return recording
    except BaseException:
        if recording is not None:
            recording.abandon()
        writer.finish(schema.END_INCOMPLETE, "attach failed")
        with suppress(OSError):
            writer.path.unlink()
        raise


def _head_path(head: str, roots: Mapping[str, torch.nn.Module], names: Names) -> str:
    """Full path of a head; it may be given without the root's name.

    Raises:
        UsageError: no module has this path.
    """
    paths = {name.path for name in names.modules.values()}
    for candidate in (head, *(f"{root}.{head}" for root in roots)):
        if candidate in paths:
            return candidate
    raise UsageError(
        f"No module is called {printable(head)!r}; heads are named by their path, e.g. "
        f"{printable(max(paths, key=len))!r}."
    )
