"""Who makes room where a server has as many connections as it may have."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fourleaf.k8s_bridge.runtime.http.crowding import makes_room


@dataclass(frozen=True)
class Held:
    """A connection: of whom, since when, and whether it is idle or arriving; else answered."""

    address: str
    opened: float
    is_idle: bool = False
    is_arriving: bool = False


def arriving(address: str, opened: float) -> Held:
    """A connection whose request has not arrived."""
    return Held(address, opened, is_arriving=True)


@pytest.mark.parametrize(
    ("held", "leaving"),
    [
        ([arriving("a", 1), Held("b", 5, is_idle=True), Held("b", 4, is_idle=True)], 2),
        ([arriving("b", 1), arriving("a", 3), arriving("a", 2)], 2),
        ([arriving("b", 3), arriving("a", 2), Held("a", 1), Held("a", 0)], 1),
        ([Held("a", 1), Held("b", 2)], None),
        ([], None),
    ],
    ids=[
        "the oldest that is idle, before all that arrive",
        "the oldest of the address with most that arrive",
        "what is answered counts for no address and stays; the oldest of those alike goes",
        "none, where all are answered",
        "none, where none is there",
    ],
)
def test_the_connection_that_goes(held: list[Held], leaving: int | None) -> None:
    """Worked out by hand for each kind of crowd."""
    assert makes_room(held) == (None if leaving is None else held[leaving])
