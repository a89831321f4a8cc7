"""Knobs: one changed condition each, under which twins are run again.

A knob that makes twins equal which diverge without it proves what kind of fault it is. Knobs take
effect in the trainer's process and its children, before any code of theirs, and touch no file.

at_start    the system's entropy, clocks, listings, thread switching; needs neither numpy nor torch
in_turn     threads and pools one after the other
one_at_a_time, taking_turns  threads that hand on the turn where they wait
at_import   what can only be changed when numpy, torch or a library is there

`hashseed` and the numbers of threads are environment variables, which the command sets; for
`addresses` it starts the program in another way.
"""

NAMES = (
    "hashseed",
    "addresses",
    "entropy",
    "seed-all",
    "clock",
    "listing",
    "workers",
    "threads",
    "switch",
    "turns",
    "deterministic",
    "fill-memory",
    "simulator-seed",
)
"""Every knob."""

SEED = 20_011
"""What knobs seed with, where the program does not."""
