"""The numbers of a difference; pure numpy, no files."""
