"""Asking a driver in another thread to end."""


class Stop:
    """How often somebody asked; the driver looks several times a second.

    The first time is as ctrl+c is: the trainer may end by itself. The second time ends it at once.
    Asking is one addition in one thread, so a signal handler may do it.
    """

    def __init__(self) -> None:
        """Nobody asked."""
        self._asked = 0

    def ask(self) -> None:
        """Ask, or ask again."""
        self._asked += 1

    @property
    def asked(self) -> int:
        """How often somebody asked."""
        return self._asked

    def check(self) -> None:
        """Called between the reads of a comparison, which ends as by ctrl+c once somebody asked.

        Raises:
            KeyboardInterrupt: somebody asked.
        """
        if self._asked:
            raise KeyboardInterrupt
