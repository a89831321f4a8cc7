"""Prints docs/decision-tree.md, as ``python -m tests.docs.decision_tree_page``."""

from bisect_debugger.causality.conclusion import render_tree
from bisect_debugger.causality.looks import LOOKS
from bisect_debugger.causality.nodes import Leaf, Question
from bisect_debugger.causality.tree import ROOT, TREE, WINDOW
from bisect_debugger.causality.variants import VARIANTS

_INTRODUCTION = f"""\
# The decision tree

This page is generated from the tree; `bisect-debugger tree` prints the tree in force.

An origin is a divergence although everything it was computed from is equal. What kind of fault it
is, the tree asks: from `{ROOT}` on, or from `{WINDOW}` where the difference stands at the opening
of a window. Every question names the look that answers it from the recordings. A question that the
recordings do not answer has a branch of its own. The answer to a question marked with ⚖ is a
judgement: the cause at its other branch is listed as an alternative, with the evidence. What each
cause means, and what to change, stands in [causes.md](causes.md).
"""

_OWN = """\
## Nodes of your own

A mapping from node ids to questions and leaves, named on the command line, is put into the tree. An
id that is there already is replaced, so a question of yours comes first if it takes the id of the
node that it stands in front of:

```python
# mynodes.py
from bisect_debugger.causality.case import Answer, Case, Finding
from bisect_debugger.causality.causes import Cause, Remedy
from bisect_debugger.causality.nodes import Leaf, Question
from bisect_debugger.causality.tree import TREE


def is_of_our_kernel(case: Case) -> Finding:
    ours = ".fused_norm" in case.row.component
    return Finding(Answer.YES if ours else Answer.NO, f"the component is {case.row.component}")


NODES = {
    "is-forward": Question(
        "Is it our fused norm?", is_of_our_kernel, "our-norm", "any-forward", "any-forward"
    ),
    "any-forward": TREE["is-forward"],
    "our-norm": Leaf(
        Cause.FORWARD_KERNEL,
        known=Remedy(
            "The fused norm adds up its rows as blocks finish.",
            ("Build it with FIXED_ORDER=1.",),
            "Run the twins with FIXED_ORDER=1: they must be equal.",
        ),
    ),
}
```

```sh
bisect-debugger tree --tree mynodes.py:NODES
bisect-debugger twin --tree mynodes.py:NODES -- python train.py
```

`compare`, `note` and `open` take `--tree` as well. It also takes the name of a module,
`package.module:NODES`. Only what is named is imported. A node that leads nowhere, leads back to
itself or asks for a look that is not there is refused. In Python,
`bisect_debugger.causality.own_nodes.extend_tree(NODES)` does the same.
"""


def page() -> str:
    """The page."""
    parts = [_INTRODUCTION, "## As it is printed\n", f"```text\n{render_tree()}\n```\n"]
    parts += ["## Questions\n", _questions(), "## Conclusions that know more\n", _variants(), _OWN]
    return "\n".join(parts)


def _questions() -> str:
    lines = ["| id | question | look | yes | no | not recorded |", "|---|---|---|---|---|---|"]
    for node_id, node in TREE.items():
        if isinstance(node, Question):
            mark = " ⚖" if node.doubtful else ""
            branches = " | ".join(f"`{branch}`" for branch in node.branches)
            look = node.look if isinstance(node.look, str) else node.look.__name__
            lines.append(f"| `{node_id}` | {node.text}{mark} | {_meaning(look)} | {branches} |")
    return "\n".join(lines) + "\n"


def _meaning(look: str) -> str:
    words = (LOOKS[look].__doc__ or "").strip().splitlines()
    return f"`{look}`" + (f": {words[0].rstrip('.').lower()}" if words else "")


def _variants() -> str:
    lines = ["| leaf | cause | meaning |", "|---|---|---|"]
    for node_id, node in TREE.items():
        if isinstance(node, Leaf) and node.variant:
            meaning = VARIANTS[node.variant].meaning
            lines.append(f"| `{node_id}` | `{node.cause.value}` | {meaning} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
