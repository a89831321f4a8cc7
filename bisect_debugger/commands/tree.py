"""`tree`: prints the decision tree that turns an origin into a cause."""

import argparse

from bisect_debugger.causality.conclusion import render_tree
from bisect_debugger.commands.output import say


def configure(parser: argparse.ArgumentParser) -> None:
    """The command has no arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Print the tree."""
    say(render_tree())
    return 0
