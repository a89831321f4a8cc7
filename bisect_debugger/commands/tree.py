"""`tree`: prints the decision tree that turns an origin into a cause."""

import argparse

from bisect_debugger.causality.conclusion import render_tree
from bisect_debugger.commands.output import say
from bisect_debugger.commands.tree_option import add_tree_option, use_trees


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_tree_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the tree in force."""
    use_trees(arguments)
    say(render_tree())
    return 0
