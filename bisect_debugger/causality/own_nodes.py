"""Nodes of one's own in the decision tree: the tree in force is the shipped one and these.

A node of a name that is there takes its place; so a question of one's own is put in front of
another by taking its name and leading on to it under a new one. Nothing is looked for: only
what the user names is imported.
"""

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from bisect_debugger.causality.causes import Cause
from bisect_debugger.causality.looks import LOOKS
from bisect_debugger.causality.nodes import Leaf, Node, Question
from bisect_debugger.causality.tree import ROOT, TREE, WINDOW
from bisect_debugger.causality.variants import VARIANTS
from bisect_debugger.errors import UsageError, printable

_added: dict[str, Node] = {}
_MODULE = "_bisect_debugger_own_tree"


def tree_in_force() -> dict[str, Node]:
    """The shipped tree with the nodes that were added."""
    return {**TREE, **_added}


def extend_tree(nodes: Mapping[str, Node]) -> None:
    """Add nodes to the tree that every diagnosis of this process walks from now on.

    Args:
        nodes: node id -> question or leaf; an id of the shipped tree replaces that node.

    Raises:
        UsageError: a node leads nowhere, round in a circle, asks what nobody answers, or ends in
            what nobody knows.
    """
    whole = {**tree_in_force(), **nodes}
    _check(whole)
    _added.update(nodes)


def reset_tree() -> None:
    """Walk the shipped tree again."""
    _added.clear()


def load_nodes(name: str) -> Mapping[str, Node]:
    """Import the nodes that a user named as ``module:attribute`` or ``path/to/file.py:attribute``.

    Raises:
        UsageError: they are not there, or are no nodes.
    """
    shown = printable(name)
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise UsageError(f"{shown} names no nodes; write --tree module:NODES or file.py:NODES.")
    try:
        module = _module_of_file(Path(place)) if place.endswith(".py") else _module(place)
    except Exception as error:
        what = printable(f"{type(error).__name__}: {error}")
        raise UsageError(
            f"{shown} cannot be imported ({what}); name a module of this environment, or a file as "
            "file.py:NODES."
        ) from error
    nodes = getattr(module, attribute, None)
    if not isinstance(nodes, Mapping):
        raise UsageError(
            f"{shown} is no mapping from node ids to questions and leaves; "
            "docs/decision-tree.md shows one."
        )
    return nodes


def _module(name: str) -> ModuleType:
    # Where the user stands is where a Python started there would look.
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return importlib.import_module(name)


def _module_of_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check(tree: Mapping[str, Node]) -> None:
    for node_id, node in tree.items():
        shown = printable(str(node_id))
        if isinstance(node, Leaf):
            _check_leaf(shown, node)
            continue
        if not isinstance(node, Question):
            raise UsageError(f"The node {shown} is neither a Question nor a Leaf.")
        lost = [other for other in node.branches if other not in tree]
        if lost:
            raise UsageError(f"The node {shown} leads to {printable(str(lost[0]))}, which is none.")
        if isinstance(node.look, str) and node.look not in LOOKS:
            raise UsageError(
                f"The node {shown} asks for {printable(node.look)}, which is no look; name one of "
                f"{', '.join(sorted(LOOKS))}, or give a function of a case."
            )
    for root in (ROOT, WINDOW):
        _check_for_circles(tree, root)


def _check_leaf(shown: str, leaf: Leaf) -> None:
    if not isinstance(leaf.cause, Cause):
        raise UsageError(f"The leaf {shown} names {printable(str(leaf.cause))}, which is no Cause.")
    if leaf.known is None and leaf.variant and leaf.variant not in VARIANTS:
        raise UsageError(
            f"The leaf {shown} is the variant {printable(str(leaf.variant))}, which is not known; "
            "say what is known of it as known=Remedy(...)."
        )


def _check_for_circles(tree: Mapping[str, Node], root: str) -> None:
    done: set[str] = set()
    # Depth first: a node is on the way from when it is entered until its branches are done.
    way: list[str] = []
    waiting: list[tuple[str, bool]] = [(root, False)]
    while waiting:
        node_id, is_left = waiting.pop()
        if is_left:
            done.add(way.pop())
            continue
        if node_id in way:
            raise UsageError(f"The node {printable(node_id)} leads back to itself.")
        if node_id in done:
            continue
        way.append(node_id)
        waiting.append((node_id, True))
        node = tree[node_id]
        if isinstance(node, Question):
            waiting += [(other, False) for other in dict.fromkeys(node.branches)]
