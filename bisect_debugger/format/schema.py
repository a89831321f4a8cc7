"""The tables of a run file: every dataset's path, element type and width.

All datasets exist from the start and only grow, because HDF5's single-writer mode (SWMR),
which keeps a file readable after SIGKILL, allows nothing else. Tables are one dataset per
column: reading one column of ten million rows does not touch the others.
"""

from dataclasses import dataclass
from enum import IntFlag

import xxhash

from bisect_debugger.format.groups import GROUP_COUNT
from bisect_debugger.format.layouts import STORAGE_DTYPES

FORMAT_NAME = "bisect-debugger run"
FORMAT_VERSION = 2

OLDEST_READ = 2
"""Oldest version that is read. In version 1 a group's running digest skipped the steps without
events of the group, so two runs that differ could end with equal ones."""

SELECTION = ("selected_groups", "include", "exclude", "heads", "payload_window")
"""Attributes that say, beside level and window, what the recording was asked to take."""

NAME_BYTES = 1024
"""Widest name that is stored, in bytes of UTF-8; see `fit_name`."""

INIT_STEP = -1
"""What happens before step 0: parameter creation, seeding calls."""

OPTIMIZER_LOADED = "torch.optim.Optimizer.load_state_dict"
LOADING_CALLS = ("torch.load", OPTIMIZER_LOADED)
"""Calls of the table of seeding calls that bring an earlier state back instead."""

THREAD_BESIDE = "thread beside the training: "
"""How a line of what was not covered begins that names a thread of the program."""


@dataclass(frozen=True)
class Column:
    """One dataset of a table.

    Attributes:
        path: path in the file, ``table/column``.
        dtype: numpy dtype of an element.
        width: extent of the second axis, or 0 for a one-dimensional dataset.
        chunk_rows: rows per HDF5 chunk.
        compressed: gzip + shuffle; only for text, which is mostly padding.
    """

    path: str
    dtype: str
    width: int = 0
    chunk_rows: int = 1024
    compressed: bool = False


def _text(path: str, width: int) -> Column:
    return Column(path, f"S{width}", chunk_rows=64, compressed=True)


BUFFERS = (
    _text("buffers/name", NAME_BYTES),
    _text("buffers/component", NAME_BYTES),
    _text("buffers/role", 256),
    _text("buffers/subject", NAME_BYTES),
    _text("buffers/location", 512),
    _text("buffers/kind", 256),
    Column("buffers/group", "u1"),
)
LAYOUTS = (_text("layouts/dtype", 32), _text("layouts/shape", 256))
EVENTS = (
    Column("events/buffer", "<u4", chunk_rows=1024),
    Column("events/layout", "<u4", chunk_rows=1024),
    Column("events/digest", "<u8", width=2, chunk_rows=1024),
    Column("events/flags", "<u2", chunk_rows=1024),
    Column("events/thread", "<u2", chunk_rows=1024),
)
STATS = (
    Column("stats/l2_norm", "<f8", chunk_rows=512),
    Column("stats/abs_max", "<f8", chunk_rows=512),
    Column("stats/nan_count", "<u8", chunk_rows=512),
    Column("stats/inf_count", "<u8", chunk_rows=512),
)
STEPS = (
    Column("steps/step", "<i8", chunk_rows=128),
    Column("steps/first_event", "<u8", chunk_rows=128),
    Column("steps/event_count", "<u8", chunk_rows=128),
    Column("steps/elapsed_seconds", "<f8", chunk_rows=128),
    Column("steps/optimizer", "<u2", chunk_rows=128),
    Column("steps/closed", "u1", chunk_rows=128),
    Column("steps/digest", "<u8", width=2, chunk_rows=128),
    Column("steps/running_digest", "<u8", width=2, chunk_rows=128),
    Column("steps/group_digest", "<u8", width=GROUP_COUNT, chunk_rows=32),
    Column("steps/running_group_digest", "<u8", width=GROUP_COUNT, chunk_rows=32),
)
EDGES = (
    Column("edges/step", "<i8", chunk_rows=128),
    Column("edges/consumer", "<u4", chunk_rows=128),
    Column("edges/consumer_occurrence", "<u4", chunk_rows=128),
    Column("edges/producer", "<u4", chunk_rows=128),
    Column("edges/producer_occurrence", "<u4", chunk_rows=128),
    Column("edges/differentiable", "u1", chunk_rows=128),
)
SEEDING = (
    _text("seeding/call", 128),
    _text("seeding/argument", 128),
    _text("seeding/location", 512),
    Column("seeding/step", "<i8", chunk_rows=64),
)
UNCOVERED = (_text("uncovered/what", NAME_BYTES),)
END = (_text("end/state", 16), _text("end/reason", NAME_BYTES))
ALGORITHMS = (_text("algorithms/name", 64),)
PAYLOAD_INDEX = (
    Column("payload/index/digest", "<u8", width=2, chunk_rows=512),
    Column("payload/index/layout", "<u4", chunk_rows=512),
    Column("payload/index/start", "<u8", chunk_rows=512),
)
PAYLOAD_CHUNK_ELEMENTS = 1 << 17
"""Elements per chunk of the types that weights and activations have. HDF5 takes as long for a chunk
as a copy of 64 KiB does, and every run that holds a type at all holds a chunk of it."""
_CHUNK_ELEMENTS = {
    **dict.fromkeys(("float32", "float16", "bfloat16", "uint8"), PAYLOAD_CHUNK_ELEMENTS),
    "float64": 8192,
}
_CHUNK_ELEMENTS_ELSE = 512
"""Of types that hold little: numbers, indices, masks. float64 holds numbers or a whole model."""
PAYLOAD_VALUES = {
    name: Column(
        f"payload/values/{name}", dtype, chunk_rows=_CHUNK_ELEMENTS.get(name, _CHUNK_ELEMENTS_ELSE)
    )
    for name, dtype in STORAGE_DTYPES.items()
}

TABLES: dict[str, tuple[Column, ...]] = {
    "buffers": BUFFERS,
    "layouts": LAYOUTS,
    "events": EVENTS,
    "stats": STATS,
    "steps": STEPS,
    "edges": EDGES,
    "seeding": SEEDING,
    "uncovered": UNCOVERED,
    "end": END,
    "algorithms": ALGORITHMS,
    "payload/index": PAYLOAD_INDEX,
}

ALL_COLUMNS = (*(column for table in TABLES.values() for column in table), *PAYLOAD_VALUES.values())

LATER = ALGORITHMS
"""Columns that the first files of this version lack; such a file holds no row of them."""

END_COMPLETE = "complete"
END_INCOMPLETE = "incomplete"
END_STOPPED = "stopped"
"""Ended on purpose, e.g. after so many steps: complete as far as it goes. Its reason begins so."""

RAISED = "the trainer raised"
"""How the reason of a run begins that an exception of the trainer ended."""


class EventFlag(IntFlag):
    """What was going on when the event was seen."""

    NONE = 0
    RECOMPUTE = 1
    """A forward run again inside backward (activation checkpointing)."""
    NO_GRAD = 2
    """Autograd was off: evaluation, target network, acting."""
    IN_BACKWARD = 4
    EVAL_MODE = 8
    """The module was in eval mode."""
    OUTSIDE_STEP = 16
    """A parameter found changed since it was seen last, although no optimizer stepped: at the start
    of a step, or before its module was called."""
    INIT = 32
    """First sight of a buffer, at step -1 or when it appeared."""
    BACKGROUND = 64
    """Seen in a thread beside the one that steps. Which step it stands in is chance, so it is part
    of no digest of a step, and one that is missing or extra there is no finding."""
    ON_DEVICE = 128
    """The digest was computed by the algorithm for tensors on a device."""


def fit_name(text: str, width: int = NAME_BYTES) -> bytes:
    """UTF-8 of a name, shortened to ``width`` bytes.

    A longer name keeps its beginning and gains ``~`` and a hash of the whole, so that two
    different names stay different.
    """
    raw = text.encode("utf-8", "backslashreplace").replace(b"\0", b"\\x00")
    if len(raw) <= width:
        return raw
    tail = b"~" + xxhash.xxh3_64_hexdigest(raw).encode()
    head = raw[: width - len(tail)].decode("utf-8", "ignore").encode()
    return head + tail
