"""How many of something there are, as a person says it."""


def counted(number: int, what: str) -> str:
    """A number with its noun: ``no event``, ``1 event``, ``1,204 events``."""
    if number == 0:
        return f"no {what}"
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
