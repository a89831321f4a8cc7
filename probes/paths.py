"""Paths as a run shows them. Nothing heavy is imported: code that runs before torch asks."""

from pathlib import Path


def short_path(path: str) -> str:
    """A path relative to the working directory where it lies below it."""
    if not path.startswith("/"):
        return path
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
