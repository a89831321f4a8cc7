"""The option ``--tree``: nodes of one's own in the decision tree."""

import argparse


def add_tree_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--tree",
        action="append",
        default=[],
        metavar="MODULE:NODES",
        help="nodes of your own for the decision tree; imports that module or file.py",
    )


def use_trees(arguments: argparse.Namespace) -> None:
    """Import what was named, and put it into force for this process.

    Raises:
        UsageError: it is not there, or no part of a tree.
    """
    if not arguments.tree:
        return
    # Only here: `open` paints before it imports what reads runs.
    from bisect_debugger.causality.own_nodes import extend_tree, load_nodes

    for name in arguments.tree:
        extend_tree(load_nodes(name))
