"""The diagnosis as plain text for a terminal or a log.

Nothing is imported here: `compare` prints a verdict without loading what only `-v` shows.
"""
