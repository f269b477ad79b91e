"""A node that answers no binding: its gang goes elsewhere, and waits where it cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.unanswered_bindings import GIVE_UP_SECONDS
from fourleaf.k8s_bridge.scheduling.silent_nodes import MOST_GANGS, MOST_NODES, SilentNodes
from fourleaf.model.gang import GangKey
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.reasons.pod_condition import ConditionReason, said
from tests import small
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.twins.virtual_clock import VirtualClock


class SilentNode:
    """Lets every dry run pass, and answers no binding to the first node that one is sent to."""

    def __init__(self, lasts: bool = True) -> None:
        self.node = ""
        self.lasts = lasts

    async def before(self, request: ApiRequest) -> None:
        """Lose the request."""
        if request.subresource != "binding" or request.dry_run or not self.lasts:
            return
        self.node = self.node or request.body.node
        if request.body.node == self.node:
            raise Ambiguous("504 timeout", 504)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def test_its_gang_goes_elsewhere(bench: Bench) -> None:
    """A gang of a leaf starts in one of the three others once it has come back from the first."""
    silent = SilentNode()
    await bench.start(dry_run="always", answers=silent)
    await bench.submit("g", 4)
    await bench.clock.advance(3 * GIVE_UP_SECONDS)
    places = await bench.places("g")
    assert len(places) == 4
    assert leaf_of(silent.node) not in {leaf_of(node) for node in places.values()}


async def test_the_gangs_of_one_node_start_too(bench: Bench) -> None:
    """Ten gangs of one node, of which one comes to it: all of them start."""
    await bench.start(dry_run="always", answers=SilentNode())
    for number in range(10):
        await bench.submit(f"g{number}", 1)
    await bench.clock.advance(3 * GIVE_UP_SECONDS)
    assert [len(await bench.places(f"g{number}")) for number in range(10)] == [1] * 10


async def test_it_waits_for_the_node_where_there_is_no_other(bench: Bench) -> None:
    """Others hold the other leaves: it says what is so, and starts once the node answers."""
    silent = SilentNode(lasts=False)
    await bench.start(dry_run="always", answers=silent)
    for number in range(3):
        await bench.submit(f"f{number}", 4)
        await bench.clock.advance(5)
    silent.lasts = True
    await bench.submit("g", 4)
    told = set()
    for _ in range(60):
        await bench.clock.advance(GIVE_UP_SECONDS / 10)
        told |= {waits.sentence for waits in await waiting(bench)}
    assert told
    assert not [words for words in told if silent.node not in words], told
    silent.lasts = False
    await bench.clock.advance(6 * GIVE_UP_SECONDS)
    assert len(await bench.places("g")) == 4


async def waiting(bench: Bench) -> list[ConditionReason]:
    """What the pods of the gang are told that wait."""
    bodies = [body for body in await bench.pods("g") if not body["spec"].get("nodeName")]
    return [one for one in (said([body]) for body in bodies) if one is not None]


def test_few_are_remembered_for_a_while() -> None:
    """At most 4 nodes of a gang, 1000 gangs, for half an hour: the oldest are forgotten first."""
    clock = VirtualClock()
    known = SilentNodes(clock)
    for number in range(MOST_NODES + 1):
        known.note(GangKey(TEAM, "g"), [f"n-{number}"])
    assert known._off() == {GangKey(TEAM, "g"): {f"n-{i}" for i in range(1, MOST_NODES + 1)}}
    for number in range(MOST_GANGS):
        known.note(GangKey(TEAM, f"g{number}"), ["n"])
    assert len(known._off()) == MOST_GANGS
    assert GangKey(TEAM, "g") not in known._off()


@pytest.mark.parametrize(
    ("kind", "again"),
    [
        (ReasonKind.NO_FREE_CAPACITY, True),
        (ReasonKind.NO_MATCHING_NODES, True),
        (ReasonKind.NOT_IN_BATCH, False),
        (ReasonKind.OUTRANKED, False),
        (ReasonKind.QUOTA_EXCEEDED, False),
    ],
)
def test_only_who_has_no_place_elsewhere_is_planned_for_them_again(
    kind: ReasonKind, again: bool
) -> None:
    """A gang that is not looked at, or that others come before, stays kept off its silent node."""
    known, gang = SilentNodes(VirtualClock()), small.gang("g", 1)
    known.note(gang.key, ["a1"])
    plan = Plan(PlanStatus.OPTIMAL, (), (Waiting(gang.key, Reason(kind)),))
    found = known.not_elsewhere(small.snapshot(small.fabric([[2]]), gang), plan)
    assert (found is not None) is again
    assert bool(known._off()) is not again


def test_it_takes_no_room_of_who_is_placed_beside_it() -> None:
    """The other gang comes to one of two nodes in the plan: one is left for this one."""
    known, gang, other = SilentNodes(VirtualClock()), small.gang("g", 1), small.gang("h", 1)
    known.note(gang.key, ["a1"])
    snapshot = small.snapshot(small.fabric([[2]]), gang, other)
    plan = Plan(
        PlanStatus.OPTIMAL,
        (Placement(other.key, (("h-0-0", "a1"),)),),
        (Waiting(gang.key, Reason(ReasonKind.NO_FREE_CAPACITY)),),
    )
    again = known.not_elsewhere(snapshot, plan)
    assert again is not None
    assert [one.gpus for one in again.free.values()] == [8, 0]


def test_a_term_that_no_node_meets_stays_one() -> None:
    """An affinity without conditions is met by no node, and not by all but the silent one."""
    known, gang = SilentNodes(VirtualClock()), small.gang("g", 1)
    role = replace(gang.roles[0], constraint=NodeConstraint(affinity=((),)))
    snapshot = small.snapshot(small.fabric([[2]]), replace(gang, roles=(role,)))
    known.note(gang.key, ["a1"])
    (kept_off,) = known.kept_off(snapshot).gangs
    assert not any(
        kept_off.roles[0].constraint.selects(one) for one in snapshot.fabric.nodes.values()
    )
