"""Two plans side by side: what becomes of each gang, and why."""

from __future__ import annotations

from fourleaf.model.gang import GangKey, TopologyPolicy
from fourleaf.model.plan import Phantom
from fourleaf.model.resources import Resources
from fourleaf.model.scores.comparison import ChangeKind, PlannedSnapshot, compare
from fourleaf.model.scores.decision import DecidedBy
from fourleaf.model.snapshot import RunningPod, Snapshot
from tests.small import fabric, gang, plan, snapshot

HALF_USED = [RunningPod("ops", "p", "a0", Resources(gpus=8))]
FILL, SHAPE = {"domainUtilization": 1}, {"topologyAlignment": 1}
GANGS = [gang("g", 1), gang("h", 1), gang("i", 1), gang("j", 1)]


def world(**spec: object) -> Snapshot:
    """Four gangs of a node, three leaves of two nodes of which `a0` is busy."""
    return snapshot(fabric([[2, 2, 2]]), *GANGS, running=HALF_USED, **spec)


def key(name: str) -> GangKey:
    """The key of a gang of this file."""
    return GangKey("ml", name)


def test_every_kind_of_change() -> None:
    """`g` moves, `h` stays, `i` loses its place and `j` gets one."""
    before = world(scoringWeights=SHAPE)
    after = world(scoringWeights=FILL)
    first = plan(before, {"g": ["b0"], "h": ["c0"], "i": ["c1"]})
    second = plan(after, {"g": ["a1"], "h": ["c0"], "j": ["c1"]})
    found = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second))
    assert {one.gang.name: one.kind for one in found.changes} == {
        "g": ChangeKind.MOVED,
        "h": ChangeKind.SAME,
        "i": ChangeKind.NEWLY_WAITING,
        "j": ChangeKind.NEWLY_PLACED,
    }
    (moved,) = found.of(ChangeKind.MOVED)
    assert moved.decision is not None
    # Under the second config a full leaf is worth 1.0 and a half full one 0.5, for 8 GPUs.
    assert moved.decision.ground is DecidedBy.TERM
    assert (moved.decision.term, moved.decision.difference) == ("domainUtilization", 4000)
    (late,) = found.of(ChangeKind.NEWLY_WAITING)
    assert late.waiting is not None
    assert late.waiting.gang == key("i")


def test_totals_of_the_terms() -> None:
    """Before, both gangs fill half a leaf: 0.5; after, one of two fills its leaf: 0.75."""
    before, after = world(scoringWeights=FILL), world(scoringWeights=FILL)
    first = plan(before, {"g": ["b0"], "h": ["c0"]})
    second = plan(after, {"g": ["a1"], "h": ["c0"]})
    found = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second))
    assert found.terms_before["domainUtilization"].value == 500
    assert found.terms_after["domainUtilization"].value == 750
    assert found.terms_after["domainUtilization"].points == second.objective


def test_a_place_that_is_no_longer_legal() -> None:
    """Two nodes of one leaf are too many where a leaf may give a gang only one."""
    pair = gang("p", 2)
    before = snapshot(fabric([[2, 2]]), pair)
    after = snapshot(fabric([[2, 2]]), pair, topologyConstraints={"maxNodesPerLeaf": 1})
    first, second = plan(before, {"p": ["a0", "a1"]}), plan(after, {"p": ["a0", "b0"]})
    (moved,) = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second)).of(
        ChangeKind.MOVED
    )
    assert moved.decision is not None
    assert moved.decision.ground is DecidedBy.LAW


def test_the_term_that_held_it_before() -> None:
    """Filling `a` was worth 0.5 more for 8 GPUs; by shape alone both leaves are worth the same."""
    before, after = world(scoringWeights=FILL), world(scoringWeights=SHAPE)
    first, second = plan(before, {"g": ["a1"]}), plan(after, {"g": ["b0"]})
    (moved,) = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second)).of(
        ChangeKind.MOVED
    )
    assert moved.decision is not None
    assert moved.held is not None
    assert moved.decision.ground is DecidedBy.EQUAL
    assert moved.held.ground is DecidedBy.TERM
    assert (moved.held.term, moved.held.term_difference) == ("domainUtilization", 4000)


def test_gangs_that_swap_alike_places_are_shuffled() -> None:
    """By shape alone all leaves are worth the same, so that `g` and `h` gain nothing."""
    before, after = world(scoringWeights=SHAPE), world(scoringWeights=SHAPE)
    first = plan(before, {"g": ["b0"], "h": ["c0"]})
    second = plan(after, {"g": ["c0"], "h": ["b0"]})
    found = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second))
    assert [one.gang.name for one in found.of(ChangeKind.SHUFFLED)] == ["g", "h"]
    assert not found.of(ChangeKind.MOVED)


def test_who_gives_way_to_one_that_gains_is_not_shuffled() -> None:
    """`g` comes to fill `a`; `h` had its node and finds one as good by no term of the first config.

    Under `SHAPE` both were as good for either; under `FILL` `a1` is worth 4000 more to both.
    `i` and `j` swap the nodes of an empty leaf, in the same plans, and are shuffled.
    """
    before, after = world(scoringWeights=SHAPE), world(scoringWeights=FILL)
    first = plan(before, {"g": ["b0"], "h": ["a1"], "i": ["c0"], "j": ["c1"]})
    second = plan(after, {"g": ["a1"], "h": ["b0"], "i": ["c1"], "j": ["c0"]})
    found = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second))
    grounds = {
        one.gang.name: one.decision.ground for one in found.of(ChangeKind.MOVED) if one.decision
    }
    assert grounds == {"g": DecidedBy.TERM, "h": DecidedBy.TAKEN}
    assert [one.gang.name for one in found.of(ChangeKind.SHUFFLED)] == ["i", "j"]


def test_a_place_as_good_that_a_gaining_gang_took() -> None:
    """`h` is worth the same in `b` and `c` under both, but `p` has both nodes of `b` now.

    `p` (two nodes) gains by the move: its pods stood on two leaves, which costs by shape.
    """
    pair, one = gang("p", 2, policy=TopologyPolicy.PREFERRED), gang("h", 1)
    before = snapshot(fabric([[2, 2, 2]]), pair, one, running=HALF_USED, scoringWeights=FILL)
    after = snapshot(fabric([[2, 2, 2]]), pair, one, running=HALF_USED, scoringWeights=SHAPE)
    first = plan(before, {"p": ["a1", "c0"], "h": ["b0"]})
    second = plan(after, {"p": ["b0", "b1"], "h": ["c0"]})
    found = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second))
    (taken,) = (one for one in found.of(ChangeKind.MOVED) if one.gang == key("h"))
    assert taken.decision is not None
    assert (taken.decision.ground, taken.decision.gangs) == (DecidedBy.TAKEN, (key("p"),))
    assert not found.of(ChangeKind.SHUFFLED)


def test_room_that_changed_places_with_a_gang() -> None:
    """Kept for a pair in the leaf that `g` is not in, worth 16,000 either way: a shuffle.

    Where the second plan keeps no room, nothing there keeps `g` from going back either; where the
    first kept none, the room is what moved it.
    """
    room = {"weight": 1, "mix": [{"nodes": 2, "share": 1}]}
    here = snapshot(fabric([[2, 2]]), gang("g", 1), fragmentation=room)
    in_b, in_a = Phantom(2, 8, ("b0", "b1"), 16000), Phantom(2, 8, ("a0", "a1"), 16000)
    first, second = plan(here, {"g": ["a0"]}, [in_b]), plan(here, {"g": ["b0"]}, [in_a])
    bare = plan(here, {"g": ["a0"]})
    assert compare(PlannedSnapshot(here, first), PlannedSnapshot(here, second)).of(
        ChangeKind.SHUFFLED
    )
    assert not compare(PlannedSnapshot(here, bare), PlannedSnapshot(here, second)).of(
        ChangeKind.SHUFFLED
    )


def test_a_place_that_was_not_legal_before() -> None:
    """A gang of two nodes comes to one leaf only where a leaf may give it both."""
    pair = gang("p", 2)
    before = snapshot(fabric([[2, 2]]), pair, topologyConstraints={"maxNodesPerLeaf": 1})
    after = snapshot(fabric([[2, 2]]), pair)
    first, second = plan(before, {"p": ["a0", "b0"]}), plan(after, {"p": ["a0", "a1"]})
    (moved,) = compare(PlannedSnapshot(before, first), PlannedSnapshot(after, second)).of(
        ChangeKind.MOVED
    )
    assert moved.held is not None
    assert moved.held.ground is DecidedBy.LAW
