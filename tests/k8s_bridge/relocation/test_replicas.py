"""Replicas of one owner, each a gang of its own: whose place is whose, and who has come for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench, leaf_of
from tests.k8s_bridge.scheduling.test_hanging_records import Hangs


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of four nodes, and no scheduler yet."""
    bench = Bench(1, 2)
    yield bench
    await bench.stop()


async def owner(bench: Bench, kind: Kind) -> str:
    """The UID of an owner of two replicas."""
    await add_namespace(bench.cluster, TEAM)
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "r"}}}
    made = await bench.cluster.create(kind, TEAM, {"metadata": {"name": "r"}, "spec": spec})
    return str(made["metadata"]["uid"])


def replica(name: str, kind: Kind, uid: str, gpus: int = 8, node: str = "") -> Body:
    """A pod that the owner has made; one for a single `node` where that is named."""
    body = pod(name, gpus)
    body["metadata"]["labels"] = {"app": "r"}
    body["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "apps/v1",
            "kind": kind.name,
            "name": "r",
            "uid": uid,
            "controller": True,
        }
    ]
    if node:
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return body


async def nodes_of(bench: Bench) -> dict[str, str]:
    """Pod -> its node, "" where it waits."""
    pods = (await bench.cluster.list(PODS, TEAM)).items
    return {body["metadata"]["name"]: body["spec"].get("nodeName", "") for body in pods}


async def drain(bench: Bench, node: str) -> None:
    """Have a node emptied."""
    body = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", node), body)


async def test_a_place_that_one_is_being_bound_to_is_no_sibling_s(bench: Bench) -> None:
    """Two replicas leave drained nodes; the page of their places is 4 s in writing meanwhile.

    One of those that came is deleted then, and another is made: no node is given to two.
    """
    hangs = Hangs("", "update")
    scheduler = await bench.start(answers=hangs)
    uid = await owner(bench, REPLICA_SETS)
    await submit(bench.cluster, TEAM, [replica("r-a", REPLICA_SETS, uid)])
    await submit(bench.cluster, TEAM, [replica("r-b", REPLICA_SETS, uid)])
    await bench.clock.advance(5)
    for node in set((await nodes_of(bench)).values()):
        await drain(bench, node)
    assert scheduler._term is not None
    parts = scheduler._term.parts
    assert parts is not None
    assert parts.relocation is not None
    store = parts.relocation.store
    while len(store) < 2:
        await bench.clock.advance(0.05)
    (leaf,) = {leaf_of(seat.node) for one in store for seat in one.seats}
    hangs.name, hangs.on = page_name(f"leaf-0-{leaf}", 0), True
    while await nodes_of(bench):
        await bench.clock.advance(0.05)
    pods = [replica(name, REPLICA_SETS, uid) for name in ("r-c", "r-d")]
    await submit(bench.cluster, TEAM, pods)
    while not hangs.count:
        await bench.clock.advance(0.02)
    await bench.clock.advance(0.5)
    first = next(iter(scheduler._term.ledger.undecided.values())).gang.name
    await bench.cluster.delete(PODS, Target(TEAM, first))
    await submit(bench.cluster, TEAM, [replica("r-e", REPLICA_SETS, uid)])
    await bench.clock.advance(3)
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(20)
    there = await nodes_of(bench)
    assert len(there) == len(set(there.values()) - {""}) == 2


@pytest.mark.parametrize(
    ("kind", "gpus"), [(STATEFUL_SETS, 8), (REPLICA_SETS, 4)], ids=["may not", "asks for less"]
)
async def test_a_sibling_that_cannot_have_a_place_has_not_come_for_it(
    bench: Bench, kind: Kind, gpus: int
) -> None:
    """A replica is drained; one that has long waited for a node that is not there stays out of it.

    Its place is kept for the one that is made anew, while another tenant's pod waits for room.
    """
    await bench.start()
    uid = await owner(bench, kind)
    await submit(bench.cluster, TEAM, [replica("r-0", kind, uid)])
    await bench.clock.advance(5)
    await bench.submit("f", 4)
    await bench.submit("g", 2)
    await submit(bench.cluster, TEAM, [replica("r-1", kind, uid, gpus, "nowhere")])
    await bench.clock.advance(3)
    await drain(bench, (await nodes_of(bench))["r-0"])
    while "r-0" in await nodes_of(bench):
        await bench.clock.advance(0.05)
    await submit(bench.cluster, "other", [pod("new", 8)])
    await bench.clock.advance(1)
    again = "r-0" if kind is STATEFUL_SETS else "r-2"
    await submit(bench.cluster, TEAM, [replica(again, kind, uid)])
    await bench.clock.advance(20)
    assert (await nodes_of(bench))[again]
    assert not (await bench.cluster.get(PODS, Target("other", "new")))["spec"].get("nodeName")
    assert await bench.events("RelocationGivenUp") == []


@pytest.mark.parametrize("is_forged", [True, False], ids=["another namespace", "one of two roles"])
async def test_who_names_an_owner_has_not_come_for_its_place(bench: Bench, is_forged: bool) -> None:
    """A replica is drained, and the only place is kept for the one that is made anew.

    A pod of another namespace names its owner, or a gang of two roles does of which one runs.
    """
    scheduler = await bench.start()
    uid = await owner(bench, REPLICA_SETS)
    await submit(bench.cluster, TEAM, [replica("r-0", REPLICA_SETS, uid)])
    await bench.clock.advance(5)
    await bench.submit("f", 4)
    await bench.submit("g", 2 if is_forged else 1)
    said = {"topology.scheduler/gang": "two", "topology.scheduler/gang-size": "2"}
    two = [replica(name, REPLICA_SETS, uid, gpus) for name, gpus in (("x-0", 2), ("x-1", 1))]
    for body in two if not is_forged else ():
        body["metadata"]["annotations"] = said
        await submit(bench.cluster, TEAM, [body])
    await bench.clock.advance(3)
    epoch = scheduler.epoch
    await drain(bench, (await nodes_of(bench))["r-0"])
    while "r-0" in await nodes_of(bench):
        await bench.clock.advance(0.05)
    if is_forged:
        await submit(bench.cluster, "other", [replica("r-9", REPLICA_SETS, uid)])
    else:
        await bench.cluster.delete(PODS, Target(TEAM, "x-1"))
        again = replica("x-2", REPLICA_SETS, uid, 8, "nowhere")
        again["metadata"]["annotations"] = said
        await submit(bench.cluster, TEAM, [again])
    await bench.clock.advance(1)
    await submit(bench.cluster, TEAM, [replica("r-2", REPLICA_SETS, uid)])
    await bench.clock.advance(20)
    assert (await nodes_of(bench))["r-2"]
    assert scheduler.epoch == epoch
    assert await bench.events("RelocationGivenUp") == []


class Budget:
    """No eviction is allowed; they are `asked` for."""

    def __init__(self) -> None:
        self.asked = 0

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if request.subresource == "eviction" and not request.dry_run:
            self.asked += 1
            why = "Cannot evict pod as it would violate the pod's disruption budget."
            raise Throttled(why, 429, "TooManyRequests", 1.0)

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Answers pass."""


async def test_who_waits_beside_a_replica_that_may_not_go_yet_starts(bench: Bench) -> None:
    """A budget keeps a replica on a drained node until another one is ready, which waits.

    That one is not held for the place of the first, which has yet to leave.
    """
    budget = Budget()
    await bench.start(answers=budget)
    uid = await owner(bench, REPLICA_SETS)
    await submit(bench.cluster, TEAM, [replica("r-a", REPLICA_SETS, uid)])
    await bench.clock.advance(20)
    await drain(bench, (await nodes_of(bench))["r-a"])
    await bench.clock.advance(5)
    assert budget.asked
    assert await bench.open_relocations() == ["r-a"]
    await submit(bench.cluster, TEAM, [replica("r-b", REPLICA_SETS, uid)])
    await bench.clock.advance(5)
    assert (await nodes_of(bench))["r-b"]
    assert await bench.open_relocations() == ["r-a"]
