"""What room for a likely gang is worth."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.job_mix import LikelyGang, likely_gangs
from tests.small import fabric, gang, snapshot

SIZES = st.dictionaries(st.sampled_from((2, 3, 4, 8, 16)), st.integers(1, 20), min_size=1)


def fragmentation(mix: dict[int, str]) -> dict[str, Any]:
    """A weight of 0.1 and this mix, nodes -> share."""
    return {"weight": "0.1", "mix": [{"nodes": n, "share": s} for n, s in mix.items()]}


def test_room_counts_for_all_that_it_can_hold() -> None:
    """0.1 * 8 GPUs a node, times 0.5 for room of two and times 0.5 + 0.25 for room of four."""
    world = snapshot(fabric([[4]]), fragmentation=fragmentation({4: "0.25", 2: "0.5"}))
    assert likely_gangs(world) == (LikelyGang(2, 8, 800), LikelyGang(4, 8, 2400))


def test_the_recent_gangs_are_the_mix() -> None:
    """Of four gangs two are pairs and one is a quad; one of a single node asks for no room."""
    gangs = [gang("a", 2), gang("b", 2), gang("c", 4), gang("d", 1)]
    world = snapshot(fabric([[4]]), *gangs, fragmentation={"weight": "0.1"})
    assert likely_gangs(world) == (LikelyGang(2, 8, 800), LikelyGang(4, 8, 2400))


def test_what_no_fabric_holds_is_not_likely() -> None:
    """A pod of 100 million GPUs asks for room on more nodes than the four that there are."""
    gangs = [gang("a", 2), gang("huge", 1, gpus=10**8)]
    world = snapshot(fabric([[4]]), *gangs, fragmentation={"weight": "0.1"})
    assert [one.nodes for one in likely_gangs(world)] == [2]


@given(SIZES)
def test_wider_room_is_worth_no_less_a_node(counts: dict[int, int]) -> None:
    """To break a wide room into narrower ones never wins, whatever the mix."""
    total = sum(counts.values())
    mix = {n: f"{1000 * c // total / 1000:.3f}" for n, c in counts.items()}
    found = likely_gangs(snapshot(fabric([[4]]), fragmentation=fragmentation(mix)))
    worth = [one.value / one.nodes for one in found]
    assert worth == sorted(worth)
