"""What is known of an object is gone with it, and never another object's."""

import gc

from probes.while_alive import WhileAlive


class Thing:
    """Compares by value, and so has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    __hash__ = None  # type: ignore[assignment]


def test_an_entry_goes_with_its_object() -> None:
    known: WhileAlive[str] = WhileAlive()
    one, other = Thing(), Thing()
    assert known.keep(one, "one") == "one"
    known.keep(other, "other")
    assert (known[id(one)], known[id(other)]) == ("one", "other")
    del one
    assert list(known.values()) == ["other"]


def test_also_where_only_the_collector_finds_it() -> None:
    known: WhileAlive[str] = WhileAlive()
    cycle = Thing()
    vars(cycle)["itself"] = cycle
    known.keep(cycle, "cycle")
    del cycle
    gc.collect()
    assert not known


def test_what_cannot_be_watched_keeps_its_id() -> None:
    known: WhileAlive[str] = WhileAlive()
    number = known.keep(thing := [1], "list") and id(thing)
    del thing
    assert all(id([1]) != number for _ in range(1000))


def test_what_was_dropped_and_kept_anew_is_not_forgotten() -> None:
    known: WhileAlive[str] = WhileAlive()
    one = Thing()
    known.keep(one, "first")
    known.drop(one)
    assert not known
    known.keep(one, "second")
    assert known[id(one)] == "second"
    known.clear()
    assert not known
    del one
    assert not known
