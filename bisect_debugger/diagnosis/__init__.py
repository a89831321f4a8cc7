"""The frozen result and how it is built from a pair of runs."""
