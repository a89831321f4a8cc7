"""Starting trainers under the recorder: one run, twins, and the proof that nothing changed.

launch     one command as a process below the bootstrap, its output passed through
session    the settings that a recorded process reads, and the status that it writes
outcome    what came of a run: its files, or one sentence that says why there are none
narration  words on stderr, which may be closed, full or without a reader
progress   steps, rate and bytes while a run goes on
twins      runs after each other, compared live, and a second pass for values
check      bare runs against probed ones
"""
