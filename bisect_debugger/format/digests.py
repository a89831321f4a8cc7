"""Digests: 128-bit content hashes, and how they fold into one per step.

A digest is xxh3_128 over the raw little-endian bytes in row-major order, seeded with the
layout, so equal digests mean equal dtype, shape and bits. A step's digest hashes its events
in (thread, sequence) order; a running digest chains the steps, which turns "the first
different step" into a binary search.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from bisect_debugger.format.groups import GROUP_COUNT, Group
from bisect_debugger.format.layouts import Layout

DIGEST_ALGORITHM = "xxh3_128/layout-seeded"
"""Stored with a run; runs with different algorithms are never compared."""

DEVICE_ALGORITHM = "multilinear-4x64/layout-seeded"
"""Digests of tensors that are hashed where they lie; a run that holds some names it."""

DEVICE_EVERYWHERE = f"{DEVICE_ALGORITHM}/host-too"
"""Named by a run whose tensors on the host were hashed in this way too, as was asked for."""

Content = bytes | bytearray | memoryview | npt.NDArray[Any]
"""Anything with a contiguous buffer that xxhash reads in place."""


def content_digest(content: Content, layout: Layout) -> bytes:
    """16-byte digest of a buffer's content.

    Args:
        content: contiguous raw bytes, row-major.
        layout: element type and shape, folded in as the seed.
    """
    # numpy declares the buffer protocol from Python 3.12 on only; it has always had it.
    return xxhash.xxh3_128_digest(content, layout.seed)  # type: ignore[arg-type]


def name_hash(group: Group, name: str) -> int:
    """64-bit identity of a buffer that is the same in every process."""
    return xxhash.xxh3_64_intdigest(f"{group.label}\0{name}".encode())


def pairs_from_bytes(digests: bytes | bytearray) -> npt.NDArray[np.uint64]:
    """Concatenated 16-byte digests as the file's (n, 2) array of (high, low) halves."""
    halves: npt.NDArray[Any] = np.frombuffer(digests, dtype=">u8")
    return halves.astype("<u8").reshape(-1, 2)


def step_digests(
    name_hashes: npt.NDArray[np.uint64],
    digests: npt.NDArray[np.uint64],
    groups: npt.NDArray[np.uint8],
    threads: npt.NDArray[np.uint16],
) -> tuple[bytes, npt.NDArray[np.uint64]]:
    """The digest of one step and of each of its groups.

    Args:
        name_hashes: (n,) `name_hash` of each event's buffer, in sequence order.
        digests: (n, 2) content digests.
        groups: (n,) group values.
        threads: (n,) thread ordinals; events of one thread keep their order, threads are
            taken one after the other, so the interleaving of threads does not count.

    Returns:
        The 16-byte step digest and a (GROUP_COUNT,) array, 0 for a group without events.
    """
    records = np.empty((len(name_hashes), 3), dtype="<u8")
    records[:, 0] = name_hashes
    records[:, 1:] = digests
    if threads.any():
        order = np.argsort(threads, kind="stable")
        records, groups = records[order], groups[order]
    own = xxhash.xxh3_128_digest(records.tobytes())
    by_group = np.zeros(GROUP_COUNT, dtype=np.uint64)
    for group in np.unique(groups):
        by_group[group] = xxhash.xxh3_64_intdigest(records[groups == group].tobytes())
    return own, by_group


def chain(running: bytes, own: bytes) -> bytes:
    """The running digest after a step with digest ``own``; 16 zero bytes before the first."""
    return xxhash.xxh3_128_digest(running + own)


def chain_groups(
    running: npt.NDArray[np.uint64], own: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Running digest of each group, (GROUP_COUNT,), zeros before the first step.

    A step without events of a group counts as well (its own digest is 0): the same events in
    two different steps must leave two different numbers for good.
    """
    pairs = np.empty((GROUP_COUNT, 2), dtype="<u8")
    pairs[:, 0], pairs[:, 1] = running, own
    raw = pairs.tobytes()
    chained = [xxhash.xxh3_64_intdigest(raw[start : start + 16]) for start in _PAIRS]
    return np.array(chained, dtype=np.uint64)


_PAIRS = range(0, 16 * GROUP_COUNT, 16)
