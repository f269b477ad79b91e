"""Two plans side by side: what becomes of each gang, and why."""

from __future__ import annotations

from model.gang import GangKey
from model.resources import Resources
from model.scores.comparison import Kind, Outcome, compare
from model.scores.decision import Ground
from model.snapshot import RunningPod, Snapshot
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
    found = compare(Outcome(before, first), Outcome(after, second))
    assert {one.gang.name: one.kind for one in found.changes} == {
        "g": Kind.MOVED,
        "h": Kind.SAME,
        "i": Kind.NEWLY_WAITING,
        "j": Kind.NEWLY_PLACED,
    }
    (moved,) = found.of(Kind.MOVED)
    assert moved.decision is not None
    # Under the second config a full leaf is worth 1.0 and a half full one 0.5, for 8 GPUs.
    assert moved.decision.ground is Ground.TERM
    assert (moved.decision.term, moved.decision.difference) == ("domainUtilization", 4000)
    (late,) = found.of(Kind.NEWLY_WAITING)
    assert late.waiting is not None
    assert late.waiting.gang == key("i")


def test_totals_of_the_terms() -> None:
    """Before, both gangs fill half a leaf: 0.5; after, one of two fills its leaf: 0.75."""
    before, after = world(scoringWeights=FILL), world(scoringWeights=FILL)
    first = plan(before, {"g": ["b0"], "h": ["c0"]})
    second = plan(after, {"g": ["a1"], "h": ["c0"]})
    found = compare(Outcome(before, first), Outcome(after, second))
    assert found.terms_before["domainUtilization"].value == 500
    assert found.terms_after["domainUtilization"].value == 750
    assert found.terms_after["domainUtilization"].points == second.objective


def test_a_place_that_is_no_longer_legal() -> None:
    """Two nodes of one leaf are too many where a leaf may give a gang only one."""
    pair = gang("p", 2)
    before = snapshot(fabric([[2, 2]]), pair)
    after = snapshot(fabric([[2, 2]]), pair, topologyConstraints={"maxNodesPerLeaf": 1})
    first, second = plan(before, {"p": ["a0", "a1"]}), plan(after, {"p": ["a0", "b0"]})
    (moved,) = compare(Outcome(before, first), Outcome(after, second)).of(Kind.MOVED)
    assert moved.decision is not None
    assert moved.decision.ground is Ground.LAW
