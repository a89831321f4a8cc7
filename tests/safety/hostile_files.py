"""Files that somebody made on purpose: sound HDF5, and nothing that a recording holds."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

Craft = Callable[[h5py.File, Path], None]
"""Takes a copy of a sound run, open for writing, and a file outside that must not be touched."""


def replaced(path: str, **options: object) -> Craft:
    """A column is made anew in another way."""

    def craft(file: h5py.File, outside: Path) -> None:
        shape = file[path].shape
        del file[path]
        file.create_dataset(path, shape, maxshape=(None,), chunks=(64,), **options)

    return craft


def column_of(dtype: object) -> Craft:
    return replaced("events/buffer", dtype=dtype)


def linked_table(file: h5py.File, outside: Path) -> None:
    del file["buffers"]
    file["buffers"] = h5py.ExternalLink(str(outside), "/")


def linked_environment(file: h5py.File, outside: Path) -> None:
    del file["environment"]
    file["environment"] = h5py.ExternalLink(str(outside), "/")


def linked_beside(file: h5py.File, outside: Path) -> None:
    del file["algorithms"]
    file["algorithms"] = h5py.ExternalLink(str(outside), "/")


def stored_outside(file: h5py.File, outside: Path) -> None:
    del file["events/flags"]
    file.create_dataset(
        "events/flags", (9,), dtype="<u2", external=[(str(outside), 0, h5py.h5f.UNLIMITED)]
    )


def virtual(file: h5py.File, outside: Path) -> None:
    del file["steps/step"]
    layout = h5py.VirtualLayout((4,), dtype="<i8")
    layout[:] = h5py.VirtualSource(str(outside), "data", shape=(4,))
    file.create_virtual_dataset("steps/step", layout)


def links_in_a_ring(file: h5py.File, outside: Path) -> None:
    del file["events/flags"]
    file["events/flags"] = h5py.SoftLink("/events/thread")
    del file["events/thread"]
    file["events/thread"] = h5py.SoftLink("/events/flags")


def cyclic_groups(file: h5py.File, outside: Path) -> None:
    file["steps/again"] = file["/"]
    file["environment/again"] = file["/"]
    del file["events"]
    file["events"] = file["/"]


def unknown_filter(file: h5py.File, outside: Path) -> None:
    del file["events/flags"]
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((64,))
    plist.set_filter(32_123, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
    space = h5py.h5s.create_simple((9,), (h5py.h5s.UNLIMITED,))
    h5py.h5d.create(file["events"].id, b"flags", h5py.h5t.STD_U16LE, space, plist)


def references(file: h5py.File, outside: Path) -> None:
    file.attrs["level"] = file["steps"].ref
    file["environment"].attrs["torch"] = file["steps/step"].regionref[:2]


def huge_attributes(file: h5py.File, outside: Path) -> None:
    for number in range(200):
        file["environment"].attrs[f"fact {number}"] = "x" * 60_000


def odd_attributes(file: h5py.File, outside: Path) -> None:
    attributes = file["environment"].attrs
    attributes["\x1b[2J\x07\u202e"] = "\x1b]0;title\x07\r\n"
    attributes["empty"] = h5py.Empty("f4")
    attributes["table"] = np.zeros((3, 3), dtype=[("a", "u1"), ("b", "f8")])
    attributes["bytes"] = np.void(bytes(range(256)))
    file.attrs["rank"] = "zero"
    file.attrs["groups"] = [b"\xff\xfe"] * 12


def control_characters(file: h5py.File, outside: Path) -> None:
    names = file["buffers/name"]
    hostile = b"\x1b[31m\x07\r\n\t\xff\xfe\xc2\x9b2J"
    names[:] = [hostile + bytes([65 + row]) for row in range(len(names))]
    file["buffers/component"][:] = hostile


def text_bomb(file: h5py.File, outside: Path) -> None:
    dataset = file["uncovered/what"]
    # A hundred kilobytes that unfold to what no run has.
    dataset.resize((70_000,))
    dataset[:] = np.full(len(dataset), b"a" * 1024)


def claims_without_content(file: h5py.File, outside: Path) -> None:
    for name in ("name", "component", "role", "subject", "location", "kind", "group"):
        file[f"buffers/{name}"].resize((20_000,))


def steps_that_overlap(file: h5py.File, outside: Path) -> None:
    file["steps/first_event"][:] = 0
    file["steps/event_count"][:] = len(file["events/buffer"])


def steps_that_wrap(file: h5py.File, outside: Path) -> None:
    file["steps/first_event"][:] = 2**64 - 1
    file["steps/event_count"][:] = 3


def shapes_that_multiply(file: h5py.File, outside: Path) -> None:
    file["layouts/shape"][:] = b",".join([b"4294967296"] * 20)


def indices_past_the_end(file: h5py.File, outside: Path) -> None:
    file["events/buffer"][:] = 2**32 - 1
    file["payload/index/start"][:] = 2**63
    file["payload/index/layout"][:] = 2**31


CRAFTS: dict[str, Craft] = {
    "a table is an external link": linked_table,
    "the environment is an external link": linked_environment,
    "a later table is an external link": linked_beside,
    "a column is stored in another file": stored_outside,
    "a column is virtual": virtual,
    "soft links lead to each other": links_in_a_ring,
    "groups hold each other": cyclic_groups,
    "a filter that nobody has": unknown_filter,
    "attributes are references": references,
    "attributes are huge": huge_attributes,
    "attributes are odd": odd_attributes,
    "names hold control characters": control_characters,
    "texts blow up": text_bomb,
    "rows without content": claims_without_content,
    "steps overlap": steps_that_overlap,
    "steps wrap around": steps_that_wrap,
    "shapes multiply beyond all bounds": shapes_that_multiply,
    "indices lead past the end": indices_past_the_end,
    "a column of compounds": column_of([("buffer", "<u4"), ("more", "S64")]),
    "a column of texts of any length": column_of(h5py.string_dtype()),
    "a column of references": column_of(h5py.ref_dtype),
    "a column of enums": column_of(h5py.enum_dtype({"a": 0, "b": 1}, basetype="<u4")),
    "a column of opaque bytes": column_of("V4"),
    "a column of arrays": column_of(np.dtype(("<u4", (2,)))),
    "another byte order": column_of(">u4"),
    "a filter of another kind": replaced("events/buffer", dtype="<u4", fletcher32=True),
    "lzf for gzip": replaced("buffers/name", dtype="S1024", compression="lzf"),
}
