"""What decides between two places, each ground in a case made for it."""

from __future__ import annotations

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Phantom, Plan
from fourleaf.model.resources import Resources
from fourleaf.model.scores.decision import DecidedBy, Decision, decide
from fourleaf.model.scores.other_places import OtherPlaces
from fourleaf.model.scores.terms import TermScores
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.small import fabric, gang, plan, seats, snapshot

HALF_USED = [RunningPod("ops", "p", "a0", Resources(gpus=8))]
"""Leaf `a` has one of two nodes left: a whole node there uses all 16 GPUs, elsewhere 8 of 16."""


def between(world: Snapshot, one: Gang, places: tuple[str, str], made: Plan | None) -> Decision:
    """What decides that `one` is on the first node and not on the second."""
    scorer = TermScores(world)
    here, there = (scorer.score(one, seats(one, [name])) for name in places)
    return decide(here, there, None if made is None else OtherPlaces(world, made))


def test_the_term_that_favours_it_most() -> None:
    """Leaf `a` is worth 0.2 * 0.5 more for each of 8 GPUs, and 0.4 * 0.25: all that it has free."""
    one = gang("g", 1)
    world = snapshot(fabric([[2, 2]]), one, running=HALF_USED)
    found = between(world, one, ("a1", "b0"), plan(world, {"g": ["a1"]}))
    assert found == Decision(DecidedBy.TERM, 1600, "resourceAvailability", 800)


def test_others_have_the_better_place() -> None:
    """`h` stands on the node that would be worth 1600 more."""
    one, other = gang("g", 1), gang("h", 1)
    world = snapshot(fabric([[2, 2]]), one, other, running=HALF_USED)
    found = between(world, one, ("b0", "a1"), plan(world, {"g": ["b0"], "h": ["a1"]}))
    assert found.ground is DecidedBy.TAKEN
    assert found.gangs == (GangKey("ml", "h"),)
    assert (found.difference, found.term) == (-1600, "resourceAvailability")


def test_room_is_kept_there() -> None:
    """Both leaves are empty and worth the same, but `b` is kept for a likely pair."""
    one = gang("g", 1)
    world = snapshot(
        fabric([[2, 2]]), one, fragmentation={"weight": 1, "mix": [{"nodes": 2, "share": 1}]}
    )
    made = plan(world, {"g": ["a0"]}, [Phantom(2, 8, ("b0", "b1"), 16000)])
    assert between(world, one, ("a0", "b0"), made).ground is DecidedBy.ROOM


def test_as_good_and_free() -> None:
    """Nothing tells two empty leaves apart where no room is kept."""
    one = gang("g", 1)
    world = snapshot(fabric([[2, 2]]), one)
    made = plan(world, {"g": ["a0"]})
    assert between(world, one, ("a0", "b0"), made) == Decision(DecidedBy.EQUAL, 0)


def test_a_plan_that_is_not_the_best() -> None:
    """The better place is free and nobody needs it."""
    one = gang("g", 1)
    world = snapshot(fabric([[2, 2]]), one, running=HALF_USED)
    found = between(world, one, ("b0", "a1"), plan(world, {"g": ["b0"]}))
    assert found == Decision(DecidedBy.UNPROVEN, -1600, "resourceAvailability", -800)


def test_what_runs_is_not_moved_for_it() -> None:
    """The same for a gang that runs there already."""
    one = gang("g", 1)
    world = snapshot(fabric([[2, 2]]), one, running=HALF_USED)
    assert between(world, one, ("b0", "a1"), None).ground is DecidedBy.BETTER


def test_an_uplink_that_others_fill() -> None:
    """Two gangs across `a` and `b` would ask 200 of an uplink of 100."""
    one, other = gang("g", 4, bandwidth=50), gang("h", 4, bandwidth=50)
    world = snapshot(fabric([[4, 4, 4, 4]], uplink=100), one, other)
    others = OtherPlaces(world, plan(world, {"h": ["a0", "a1", "b0", "b1"]}))
    there = seats(one, ["a2", "a3", "b2", "b3"])
    assert others.takers(one, there) == (GangKey("ml", "h"),)
    assert others.takers(one, seats(one, ["c0", "c1", "d0", "d1"])) == ()
