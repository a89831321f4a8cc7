"""Of a main file, what a class needs is taken, and nothing that would run."""

import pytest

from probes.isolation import NotIsolated
from probes.isolation.definitions import definitions

SOURCE = """
from __future__ import annotations
import os
import torch
from torch import nn
from .layers import Layer
try:
    import fast
except ImportError:
    fast = None

WIDTH = 4
DEPTH, unused = 2, 3
data = open("/nowhere")
print("training")

def scale(x):
    return x * WIDTH

@torch.no_grad()
def decorated(x):
    return x

class Base(nn.Module):
    pass

class Net(Base):
    depth = DEPTH
    def forward(self, x):
        return scale(decorated(x))

class Other:
    pass

for step in range(3):
    print(step)
if __name__ == "__main__":
    raise SystemExit
"""


def test_the_class_and_what_it_refers_to_are_taken_in_order() -> None:
    text = definitions(SOURCE, ["Net"])
    places = [
        text.index(part)
        for part in (
            *("from __future__", "import torch", "from torch import nn", "WIDTH = 4"),
            *("DEPTH, unused", "def scale", "@torch.no_grad()", "class Base", "class Net"),
        )
    ]
    assert places == sorted(places)
    for part in ("import os", "open(", "print", "Other", "__main__", "fast"):
        assert part not in text


def test_what_it_takes_runs() -> None:
    names: dict[str, object] = {}
    exec(compile(definitions(SOURCE, ["scale"]), "<taken>", "exec"), names)
    scale = names["scale"]
    assert callable(scale)
    assert scale(3) == 12


def test_relative_imports_become_absolute_and_guarded_ones_stay_guarded() -> None:
    assert "from package.inner.layers import Layer" in definitions(
        SOURCE, ["Layer"], "package.inner"
    )
    assert "except ImportError" in definitions(SOURCE, ["fast"])


@pytest.mark.parametrize(
    ("source", "names", "reason"),
    [
        (SOURCE, ["step"], "step is not defined at the top"),
        (SOURCE, ["Layer"], "which is not known"),
        ("def broken(:", ["broken"], "cannot be read"),
    ],
)
def test_what_cannot_be_taken_is_refused(source: str, names: list[str], reason: str) -> None:
    with pytest.raises(NotIsolated, match=reason):
        definitions(source, names)


def test_a_form_feed_ends_no_line() -> None:
    text = definitions("import f\n\f\n@f.marked\ndef one():\n    return 1\n\f\ntwo = 2\n", ["one"])
    assert text == "import f\n\n@f.marked\ndef one():\n    return 1"
