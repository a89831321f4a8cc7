"""Hooked methods of libraries: only the outermost call is seen, and nothing of ours is raised."""

from typing import Any

from probes.unedited.libraries.methods import hook, hook_before


def test_later_subclasses_are_hooked_and_only_the_outermost_call_is_seen() -> None:
    seen = []

    class Base:
        def step(self) -> str:
            return "base"

    hook(Base, {"step": lambda instance, args, kwargs, result: seen.append(result)})

    class Wrapper(Base):
        def step(self) -> str:
            return f"wrapped {super().step()}"

    assert Wrapper().step() == "wrapped base"
    assert Base().step() == "base"
    assert seen == ["wrapped base", "base"]


def test_what_goes_wrong_beside_a_call_never_reaches_the_program() -> None:
    class Buffer:
        def sample(self, size: int) -> int:
            return size

    def fails(*ignored: Any) -> None:
        raise ValueError("of another shape than expected")

    hook(Buffer, {"sample": fails})
    hook_before(Buffer, "sample", fails)
    assert Buffer().sample(3) == 3
