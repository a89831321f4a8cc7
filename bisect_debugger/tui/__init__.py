"""The terminal UI; the only room that knows Textual."""
