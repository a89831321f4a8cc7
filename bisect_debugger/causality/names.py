"""Relations between component paths: ``net.head`` lies under ``net``."""


def is_under(component: str, ancestor: str) -> bool:
    """It is the ancestor itself or lies below it."""
    return component == ancestor or component.startswith(ancestor + ".")


def ancestors(component: str) -> tuple[str, ...]:
    """Every proper ancestor, nearest first: ``a.b.c`` gives ``a.b`` and ``a``."""
    parts = component.split(".")
    return tuple(".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))


def root_of_batch(name: str) -> str:
    """The root module that a batch enters: ``data.model.in[0]`` gives ``model``."""
    return name.removeprefix("data.").rpartition(".in")[0]


def related(one: str, other: str) -> bool:
    """One is the other or lies below it."""
    return is_under(one, other) or is_under(other, one)
