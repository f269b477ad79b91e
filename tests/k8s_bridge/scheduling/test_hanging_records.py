"""One record about which the API does not answer: its gang and nodes wait, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cache.last_good_config import CONFIG_LEASE
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import gang_body, read_page
from fourleaf.k8s_bridge.ledger.names import GANG, PAGES, RECORD, page_name
from fourleaf.k8s_bridge.ledger.records import GangLease, Member, Phase
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench

STRAY = "gang-stray-0123456789ab"


class Hangs:
    """Requests of some verbs about one Lease are not answered once it is `on`, until they `go`."""

    def __init__(self, name: str, *verbs: str) -> None:
        self.name, self.verbs = name, verbs
        self.on = False
        self.count = 0
        self.go = asyncio.Event()

    async def before(self, request: ApiRequest) -> None:
        """Keep the request."""
        named = request.target.name or (request.body or {}).get("metadata", {}).get("name")
        meant = request.kind is LEASES and named == self.name
        if self.on and meant and request.verb in self.verbs:
            self.count += 1
            await self.go.wait()

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Four leaves of 4 nodes, and no scheduler yet."""
    bench = Bench()
    yield bench
    await bench.stop()


async def is_bound_to(bench: Bench, name: str) -> bool:
    """Whether a pod that may go to that node alone is bound there within ten seconds."""
    body = pod(f"on-{name}", 0, labels={"batch.kubernetes.io/job-name": "on"})
    body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": name}
    await submit(bench.cluster, TEAM, [body])
    await bench.clock.advance(10)
    pods = (await bench.cluster.list(PODS, TEAM)).items
    return any(one["spec"].get("nodeName") == name for one in pods)


@pytest.mark.parametrize("verb", ["update", "create"])
async def test_a_page_that_hangs_keeps_no_other_from_listing_its_nodes(
    bench: Bench, verb: str
) -> None:
    """A node of its leaf comes first, then one of another: that one is used within ten seconds.

    The page is asked about once, not again and again.
    """
    leaf = "leaf-0-0" if verb == "update" else "leaf-0-8"
    hangs = Hangs(page_name(leaf, 0), verb)
    bench.fabric = nodes(1, 4, 3)
    await bench.start(answers=hangs)
    hangs.on = True
    await bench.cluster.create(NODES, "", node("n-first", leaf, "spine-0"))
    await bench.clock.advance(5)
    await bench.cluster.create(NODES, "", node("n-next", "leaf-0-1", "spine-0"))
    await bench.cluster.create(NODES, "", node("n-new", "leaf-0-9", "spine-0"))
    await bench.clock.advance(5)
    assert await is_bound_to(bench, "n-next")
    assert await is_bound_to(bench, "n-new")
    assert not await is_bound_to(bench, "n-first")
    assert hangs.count == 1


async def test_nodes_of_a_page_that_hangs_take_no_new_gang(bench: Bench) -> None:
    """One pod has a node of leaf 0, whose page hangs: of 15 pods 12 fill the other leaves at once.

    The last three have the rest of leaf 0 once the API answers.
    """
    hangs = Hangs(page_name("leaf-0-0", 0), "update")
    scheduler = await bench.start(answers=hangs)
    hangs.on = True
    first = pod("first", 8)
    first["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n-0-0-0"}
    await submit(bench.cluster, TEAM, [first])
    await bench.clock.advance(7)
    await submit(bench.cluster, TEAM, [pod(f"p{number}", 8) for number in range(15)])
    await bench.clock.advance(10)

    async def stand() -> list[str]:
        pods = (await bench.cluster.list(PODS, TEAM)).items
        return [one["spec"]["nodeName"] for one in pods if one["spec"].get("nodeName")]

    assert len(await stand()) == 12
    assert scheduler._term is not None
    assert len(scheduler._term.ledger.undecided) == 1
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(10)
    assert len(set(await stand())) == 16


class HangingLeases:
    """Nobody answers who makes a gang lease."""

    async def before(self, request: ApiRequest) -> None:
        """Keep the request."""
        if (
            request.kind is LEASES
            and request.verb == "create"
            and "gang-wide-" in str(request.body)
        ):
            await asyncio.Event().wait()

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_pages_of_a_wide_gang_whose_lease_hangs_take_others(bench: Bench) -> None:
    """Two leaves of 4 nodes, 6 of them for a wide gang whose lease hangs: two pods have the rest.

    They come 8 s later, when it has waited for long, and start within 5 s.
    """
    bench.fabric = nodes(1, 2, 4)
    await bench.start(answers=HangingLeases())
    wide = gang("wide", 6)
    for body in wide:
        body["metadata"]["annotations"]["topology.scheduler/topology-policy"] = "Preferred"
    await submit(bench.cluster, TEAM, wide)
    await bench.clock.advance(8)
    await submit(bench.cluster, TEAM, [pod("a", 8), pod("b", 8)])
    await bench.clock.advance(5)
    pods = (await bench.cluster.list(PODS, TEAM)).items
    stand = {one["metadata"]["name"] for one in pods if one["spec"].get("nodeName")}
    assert stand == {"a", "b"}


async def test_a_stray_lease_that_hangs_keeps_no_other_from_its_end(bench: Bench) -> None:
    """Nobody answers about a lease that the sweep finds: that of a wide gang is dropped as ever."""
    hangs = Hangs(STRAY, "get")
    hangs.on = True
    await bench.start(answers=hangs)
    stray: Body = {"metadata": {"name": STRAY, "labels": {RECORD: GANG}}, "spec": {}}
    await bench.cluster.create(LEASES, "kube-system", stray)
    await bench.clock.advance(70)
    assert hangs.count == 1
    await submit(bench.cluster, TEAM, gang("wide", 8))
    await bench.clock.advance(10)
    leases = (await bench.cluster.list(LEASES, "kube-system", f"{RECORD}={GANG}")).items
    assert [one["metadata"]["name"] for one in leases] == [STRAY]


async def test_a_stray_lease_that_hangs_keeps_no_other_from_being_found(bench: Bench) -> None:
    """One that comes late, when the first sweep still waits for an answer, is gone 40 s later."""
    hangs = Hangs(STRAY, "get")
    hangs.on = True
    await bench.start(answers=hangs)
    stray: Body = {"metadata": {"name": STRAY, "labels": {RECORD: GANG}}, "spec": {}}
    await bench.cluster.create(LEASES, "kube-system", stray)
    await bench.clock.advance(40)
    assert hangs.count == 1
    member = Member(Target(TEAM, "gone", "uid", "1"), "n-0-0-0")
    late = GangLease(
        "gang-late-0123456789ab",
        "0123456789ab",
        GangKey(TEAM, "late"),
        Phase.PREPARED,
        (member,),
        (page_name("leaf-0-0", 0),),
        epoch=1,
    )
    await bench.cluster.create(LEASES, "kube-system", gang_body(late, "b"))
    await bench.clock.advance(40)
    leases = (await bench.cluster.list(LEASES, "kube-system", f"{RECORD}={GANG}")).items
    assert [one["metadata"]["name"] for one in leases] == [STRAY]


async def test_a_page_that_hangs_keeps_no_pod_from_moving(bench: Bench) -> None:
    """The page that would say whether another leads is silent; the next one says it as well."""
    hangs = Hangs(page_name("leaf-0-0", 0), "get")
    await bench.start(answers=hangs)
    await bench.submit("g", 1)
    before = await bench.uids("g")
    (name,) = (await bench.places("g")).values()
    hangs.on = True
    drained = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
    await bench.cluster.patch(NODES, Target("", name), drained)
    await bench.clock.advance(15)
    assert hangs.count > 0
    assert await bench.uids("g") != before


async def relabelled(bench: Bench, name: str, leaf: str) -> None:
    """A node is of that leaf from now on, and five seconds pass."""
    body = await bench.cluster.get(NODES, Target("", name))
    labels = {
        key: leaf for key, old in body["metadata"]["labels"].items() if old.startswith("leaf-")
    }
    await bench.cluster.patch(NODES, Target("", name), {"metadata": {"labels": labels}})
    await bench.clock.advance(5)


async def listed_by(bench: Bench, name: str) -> dict[str, int]:
    """The leaves whose pages list a node, each with the members that they have there."""
    pages = map(read_page, (await bench.cluster.list(LEASES, "kube-system", PAGES)).items)
    return {
        page.leaf: sum(member.node == name for entry in page.entries for member in entry.members)
        for page in pages
        if name in page.nodes
    }


async def test_a_node_that_comes_back_is_listed_once_a_late_write_has_dropped_it(
    bench: Bench,
) -> None:
    """Its page is long in letting it go, and it is of the leaf again before that is answered."""
    hangs = Hangs(page_name("leaf-0-0", 0), "update")
    await bench.start(answers=hangs)
    name = "n-0-0-0"
    hangs.on = True
    await relabelled(bench, name, "leaf-0-1")
    assert hangs.count == 1
    await relabelled(bench, name, "leaf-0-0")
    hangs.on = False
    hangs.go.set()
    assert await is_bound_to(bench, name)
    assert list(await listed_by(bench, name)) == ["leaf-0-0"]


async def test_a_node_that_a_late_write_takes_up_is_listed_by_one_page(bench: Bench) -> None:
    """It goes to a third leaf before the page of the second has answered: its pod is held once."""
    bench.fabric = nodes(1, 5, 3)
    hangs = Hangs(page_name("leaf-0-3", 0), "update")
    await bench.start(answers=hangs)
    await bench.submit("g", 1)
    (name,) = (await bench.places("g")).values()
    await bench.clock.advance(20)
    hangs.on = True
    await relabelled(bench, name, "leaf-0-3")
    assert hangs.count == 1
    await relabelled(bench, name, "leaf-0-4")
    hangs.on = False
    hangs.go.set()
    for _ in range(20):
        await bench.clock.advance(0.1)
        assert len(await listed_by(bench, name)) <= 1
    await bench.clock.advance(40)
    assert await listed_by(bench, name) == {"leaf-0-4": 1}


async def test_a_record_of_failures_that_hangs_makes_no_death_late(bench: Bench) -> None:
    """The API does not answer about it: three nodes die, and their pod moves within 25 s each."""
    hangs = Hangs(FAILURES_LEASE, "create", "update")
    hangs.on = True
    await bench.start(answers=hangs)
    await bench.submit("g", 1)
    for _ in range(3):
        await bench.clock.advance(30)
        (name,) = (await bench.places("g")).values()
        bench.lose(name)
        await bench.clock.advance(25)
        (now,) = (await bench.places("g")).values()
        assert now != name
    assert hangs.count == 1


async def test_a_config_of_the_leader_before_that_hangs_costs_no_term(bench: Bench) -> None:
    """The ConfigMap makes no sense, and the API is half a minute late with the last good one.

    The leader leads on meanwhile, and binds as soon as it knows; before, its Lease ran out.
    """
    await bench.config("{batch: {size: -3}}")
    hangs = Hangs(CONFIG_LEASE, "get")
    hangs.on = True
    scheduler = await bench.start(answers=hangs)
    await bench.submit("g", 1)
    await bench.clock.advance(30)
    assert scheduler.leading
    assert scheduler.election.epoch == 1
    assert await bench.places("g") == {}
    hangs.on = False
    hangs.go.set()
    await bench.clock.advance(5)
    assert len(await bench.places("g")) == 1
