"""Starting trainers under the recorder: one run, twins, and the proof that nothing changed.

launch     one command as a process below the bootstrap, its output passed through
session    the settings that a recorded process reads, and the status that it writes
outcome    what came of a run: its files, or one sentence that says why there are none
narration  words on stderr, which may be closed, full or without a reader
narrator   steps, rate and bytes on stderr while a run goes on
reporting  status lines and output of a run as events for listeners
keeper     ends a trainer whose command was killed
twins      runs after each other, compared live, and a second pass for values
plan       what twins are asked for, and what they found
bench      the trainer run again under knobs, and what came of it
luck       how likely it is that twins are equal by luck
addresses  a trainer whose memory lies at fixed addresses
check      bare runs against probed ones
"""
