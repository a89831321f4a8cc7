"""Starting trainers under the recorder: one run, twins, and the proof that nothing changed.

launch     one command as a process below the bootstrap, its output passed through
session    the settings that a recorded process reads, and the status that it writes
outcome    what came of a run: its files, or one sentence that says why there are none
narration  words on stderr, which may be closed, full or without a reader
narrator   steps, rate and bytes on stderr while a run goes on
reporting  status lines and output of a run as events for listeners
keeper     ends a trainer whose command was killed
twins      runs after each other, compared live, and a second pass for values
check      bare runs against probed ones
"""
