"""Each law of a repair, a preemption or a defragmentation has a plan that breaks it alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fourleaf.model.free_leaves import free_room
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Placement, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import (
    Budget,
    DefragPlan,
    FreeLeaves,
    PreemptionPlan,
    RepairPlan,
    Victim,
)
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import (
    Law,
    defrag_breaches,
    preemption_breaches,
    repair_breaches,
    score,
)
from tests.small import WHOLE, fabric, gang
from tests.standing import outage, stood

G, W = GangKey("ml", "g"), GangKey("ml", "w")
EIGHT = ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3")
WHY = Reason(ReasonKind.NO_FREE_CAPACITY)


def move(pod: str, source: str, target: str) -> Move:
    """A move of a pod of the namespace `ml`."""
    return Move("ml", pod, source, target, "")


MOVES = tuple(move(f"g-0-{i}", f"a{i}", f"c{i}") for i in (1, 2, 3))
LEGAL = RepairPlan(PlanStatus.OPTIMAL, (Placement(G, (("g-0-0", "c0"),)),), MOVES, cost=3)
"""A gang of eight over leaves a and b has lost a0; what it had in a goes to c."""

LOST = RepairPlan(PlanStatus.OPTIMAL, lost=(Waiting(G, WHY),))


def hit(*others: StandingGang, policy: RepairPolicy = RepairPolicy.MOVE) -> Snapshot:
    """The gang of eight after the loss, with other gangs beside it."""
    gang = stood("g", EIGHT, policy=policy)
    return outage(fabric([[4, 4, 5], [4, 4]]), gang, *others, dead=["a0"])


def stranger(snapshot: Snapshot, node: str) -> Snapshot:
    """The snapshot with a pod of somebody else on a whole node."""
    pod = RunningPod("other", "p", node, replace(WHOLE, cpu=0, memory=0, pods=1))
    return replace(snapshot, running=(*snapshot.running, pod))


def elsewhere() -> tuple[Snapshot, RepairPlan]:
    """All of a gang that may shift goes to another spine."""
    targets = ("d1", "d2", "d3", "e0", "e1", "e2", "e3")
    moves = tuple(move(f"g-0-{i + 1}", EIGHT[i + 1], target) for i, target in enumerate(targets))
    placements = (Placement(G, (("g-0-0", "d0"),)),)
    return hit(policy=RepairPolicy.SHIFT), RepairPlan(PlanStatus.OPTIMAL, placements, moves, cost=7)


REPAIRS: dict[str, tuple[set[Law], Callable[[], tuple[Snapshot, RepairPlan]]]] = {
    "legal": (set(), lambda: (hit(), LEGAL)),
    "lost": (set(), lambda: (hit(), LOST)),
    "forgotten": ({Law.ACCOUNTED}, lambda: (hit(), RepairPlan(PlanStatus.OPTIMAL))),
    "placed and lost": ({Law.ACCOUNTED}, lambda: (hit(), replace(LEGAL, lost=LOST.lost))),
    "unknown gang": ({Law.KNOWN}, lambda: (hit(), replace(LEGAL, lost=(Waiting(W, WHY),)))),
    "waits with another policy": (
        {Law.POLICY},
        lambda: (hit(), RepairPlan(PlanStatus.OPTIMAL, waits=(G,))),
    ),
    "placed with the policy to wait": (
        {Law.POLICY, Law.MOVE},
        lambda: (hit(policy=RepairPolicy.WAIT), LEGAL),
    ),
    "patch moves": ({Law.MOVE}, lambda: (hit(policy=RepairPolicy.PATCH), LEGAL)),
    "shift leaves its spine": ({Law.POLICY}, elsewhere),
    "lost member missing": (
        {Law.WHOLE},
        lambda: (hit(), replace(LEGAL, placements=(Placement(G, ()),))),
    ),
    "wrong source": (
        {Law.MOVE},
        lambda: (hit(), replace(LEGAL, moves=(move("g-0-1", "a2", "c1"), *MOVES[1:]))),
    ),
    "unknown pod": (
        {Law.KNOWN},
        lambda: (hit(), replace(LEGAL, moves=(*MOVES, move("x", "a1", "c4")))),
    ),
    "unknown node": (
        {Law.KNOWN, Law.LOCATION},
        lambda: (hit(), replace(LEGAL, moves=(move("g-0-1", "a1", "z9"), *MOVES[1:]))),
    ),
    "moved to where it is": (
        {Law.MOVE},
        lambda: (hit(), replace(LEGAL, moves=(*MOVES, move("g-0-4", "b0", "b0")))),
    ),
    "unmovable gang": (
        {Law.MOVE},
        lambda: (
            hit(stood("m", ["d0"])),
            replace(LEGAL, moves=(*MOVES, move("m-0-0", "d0", "d1")), cost=4),
        ),
    ),
    "lost gang moves": ({Law.MOVE, Law.WHOLE}, lambda: (hit(), replace(LOST, moves=MOVES))),
    "target taken": ({Law.ROOM}, lambda: (stranger(hit(), "c2"), LEGAL)),
    "two on one node": (
        {Law.ROOM},
        lambda: (hit(), replace(LEGAL, moves=(move("g-0-1", "a1", "c2"), *MOVES[1:]))),
    ),
    "dead target": (
        {Law.ELIGIBLE, Law.LOCATION},
        lambda: (hit(), replace(LEGAL, placements=(Placement(G, (("g-0-0", "a0"),)),))),
    ),
    "members torn apart": (
        {Law.LOCATION},
        lambda: (hit(), replace(LEGAL, moves=(move("g-0-1", "a1", "d0"), *MOVES[1:]))),
    ),
    "wrong cost": ({Law.OBJECTIVE}, lambda: (hit(), replace(LEGAL, cost=2))),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_repairs(name: str) -> None:
    """A repair that breaks one law is told of that law and of no other."""
    laws, case = REPAIRS[name]
    assert {breach.law for breach in repair_breaches(*case())} == laws


def test_swapped_nodes_are_legal() -> None:
    """Two gangs may swap their nodes: room is counted once both have left."""
    one, two = stood("one", ["a0"], movable=True), stood("two", ["b0"], movable=True)
    snapshot = outage(fabric([[1, 1]]), one, two)
    moves = (move("one-0-0", "a0", "b0"), move("two-0-0", "b0", "a0"))
    assert repair_breaches(snapshot, RepairPlan(PlanStatus.OPTIMAL, moves=moves, cost=2)) == ()


def torn() -> Snapshot:
    """A pair of priority 5 waits; low pairs stand in both leaves, a higher one may not go."""
    return outage(
        fabric([[2, 2, 2]]),
        stood("low", ["a0", "a1"], priority=1, move_cost=2),
        stood("other", ["b0", "b1"], priority=1),
        stood("high", ["c0", "c1"], priority=7),
        stood("safe", ["c0"], gpus=0, priority=0, preemptible=False),
        waiting=[gang("w", 2, priority=5)],
    )


LOW = Victim(GangKey("ml", "low"), 1, (("low-0-0", "a0"), ("low-0-1", "a1")), 4)
HIGH = Victim(GangKey("ml", "high"), 7, (("high-0-0", "c0"), ("high-0-1", "c1")), 2)


def seated(snapshot: Snapshot, *victims: Victim, leaf: str = "a") -> PreemptionPlan:
    """The plan that evicts these and puts `w` into a leaf, with true points."""
    gone = {pod for victim in victims for pod, _ in victim.pods}
    after = replace(snapshot, running=tuple(p for p in snapshot.running if p.name not in gone))
    pods = (("w-0-0", f"{leaf}0"), ("w-0-1", f"{leaf}1"))
    terms = tuple(sorted(score(after, snapshot.gangs[0], pods).items()))
    return PreemptionPlan(PlanStatus.OPTIMAL, W, Placement(W, pods, terms), victims)


PREEMPTIONS: dict[str, tuple[set[Law], Callable[[], PreemptionPlan]]] = {
    "legal": (set(), lambda: seated(torn(), LOW)),
    "no way": (set(), lambda: PreemptionPlan(PlanStatus.OPTIMAL, W, reason=WHY)),
    "no reason": ({Law.ACCOUNTED}, lambda: PreemptionPlan(PlanStatus.OPTIMAL, W)),
    "victims for nothing": (
        {Law.VICTIM},
        lambda: PreemptionPlan(PlanStatus.OPTIMAL, W, None, (LOW,), WHY),
    ),
    "unknown waiter": ({Law.KNOWN}, lambda: replace(seated(torn(), LOW), gang=G)),
    "unknown victim": (
        {Law.KNOWN},
        lambda: seated(torn(), LOW, replace(LOW, gang=G, pods=())),
    ),
    "higher victim": ({Law.VICTIM}, lambda: seated(torn(), HIGH, leaf="c")),
    "protected victim": (
        {Law.VICTIM},
        lambda: seated(torn(), LOW, Victim(GangKey("ml", "safe"), 0, (("safe-0-0", "c0"),), 1)),
    ),
    "victim twice": ({Law.VICTIM}, lambda: seated(torn(), LOW, LOW)),
    "half a victim": (
        {Law.WHOLE, Law.ROOM},
        lambda: seated(torn(), replace(LOW, pods=LOW.pods[:1])),
    ),
    "wrong price": ({Law.OBJECTIVE}, lambda: seated(torn(), replace(LOW, cost=1))),
    "no room": ({Law.ROOM}, lambda: seated(torn(), LOW, leaf="b")),
    "wrong points": (
        {Law.TERMS},
        lambda: replace(seated(torn(), LOW), placement=_dearer(seated(torn(), LOW))),
    ),
}


def _dearer(plan: PreemptionPlan) -> Placement:
    assert plan.placement is not None
    terms = tuple((name, points + 1) for name, points in plan.placement.terms[:1])
    return replace(plan.placement, terms=(*terms, *plan.placement.terms[1:]))


@pytest.mark.parametrize("name", PREEMPTIONS)
def test_preemptions(name: str) -> None:
    """A preemption that breaks one law is told of that law and of no other."""
    laws, case = PREEMPTIONS[name]
    assert {breach.law for breach in preemption_breaches(torn(), case())} == laws


def halves() -> Snapshot:
    """Two leaves of two, each with a movable single; a pair waits."""
    singles = [
        stood(f"s{i}", [f"{leaf}0"], movable=True, move_cost=3) for i, leaf in enumerate("ab")
    ]
    return outage(fabric([[2, 2]]), *singles, stood("f", [], gpus=0), waiting=[gang("w", 2)])


def gathered() -> DefragPlan:
    """The single of leaf a joins the other, and the pair takes leaf a; with true points."""
    snapshot = halves()
    moves = (move("s0-0-0", "a0", "b1"),)
    left = replace(snapshot, running=tuple(p for p in snapshot.running if p.name != "s0-0-0"))
    pods = (("w-0-0", "a0"), ("w-0-1", "a1"))
    terms = tuple(sorted(score(left, snapshot.gangs[0], pods).items()))
    return DefragPlan(
        PlanStatus.OPTIMAL,
        moves,
        (Placement(W, pods, terms),),
        before=FreeLeaves(0, 0, 0),
        after=FreeLeaves(1, 0, 0),
        cost=3,
    )


DEFRAGS: dict[str, tuple[set[Law], Budget, Callable[[], DefragPlan]]] = {
    "legal": (set(), Budget(1, 3), gathered),
    "too many pods": ({Law.BUDGET}, Budget(0), gathered),
    "too dear": ({Law.BUDGET}, Budget(1, 2), gathered),
    "wrong cost": ({Law.OBJECTIVE}, Budget(1), lambda: replace(gathered(), cost=1)),
    "wrong room": (
        {Law.OBJECTIVE},
        Budget(1),
        lambda: replace(gathered(), after=FreeLeaves(2, 1, 0)),
    ),
    "gang forgotten": ({Law.ACCOUNTED}, Budget(1), lambda: replace(gathered(), placements=())),
    "unknown gang": (
        {Law.KNOWN},
        Budget(1),
        lambda: replace(gathered(), waiting=(Waiting(G, WHY),)),
    ),
    "target taken": (
        {Law.ROOM},
        Budget(1),
        lambda: replace(gathered(), moves=(move("s0-0-0", "a0", "b0"),)),
    ),
    "room not made": (
        {Law.ROOM, Law.OBJECTIVE, Law.TERMS},
        Budget(1),
        lambda: replace(gathered(), moves=()),
    ),
}


@pytest.mark.parametrize("name", DEFRAGS)
def test_defrags(name: str) -> None:
    """A defragmentation that breaks one law is told of that law and of no other."""
    laws, budget, case = DEFRAGS[name]
    assert {breach.law for breach in defrag_breaches(halves(), case(), budget)} == laws


@pytest.mark.parametrize(
    ("sizes", "busy", "room"),
    [
        ([2, 2, 2, 2, 2], [], FreeLeaves(5, 2, 1)),
        ([2, 2, 2, 2, 2], ["c0"], FreeLeaves(4, 2, 0)),
        ([2, 2, 2, 2, 2], ["b0"], FreeLeaves(4, 1, 0)),
        ([2, 2, 2, 2], ["a0", "c1"], FreeLeaves(2, 0, 0)),
    ],
)
def test_free_room(sizes: list[int], busy: list[str], room: FreeLeaves) -> None:
    """Whole free leaves, and disjoint pairs and quads of neighbours among them."""
    snapshot = outage(fabric([sizes]), *[stood(f"s{node}", [node]) for node in busy])
    assert free_room(snapshot) == room
