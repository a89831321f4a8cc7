"""What the probes have to say goes to stderr, and never into the trainer's way."""

import contextlib
import sys


def say(sentence: str) -> None:
    """Write one line to stderr, where there is one that takes it."""
    # A trainer may have closed or replaced stderr, or run without any.
    with contextlib.suppress(Exception):
        sys.stderr.write(f"bisect-debugger: {sentence}\n")
