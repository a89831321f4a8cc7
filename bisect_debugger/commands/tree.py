"""`tree`: prints the decision tree that turns an origin into a cause."""

import argparse

from bisect_debugger.causality.tree import render_tree


def configure(parser: argparse.ArgumentParser) -> None:
    """The command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print the tree."""
    print(render_tree())
    return 0
