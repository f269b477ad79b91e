"""One record about which the API does not answer: its gang and nodes wait, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, node, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.names import GANG, RECORD, page_name
from fourleaf.k8s_bridge.relocation.repair import DRAIN
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.twins.virtual_clock import VirtualClock

STRAY = "gang-stray-0123456789ab"


class Hangs:
    """Requests of one verb about one Lease are not answered once it is `on`."""

    def __init__(self, clock: VirtualClock, verb: str, name: str) -> None:
        self.clock, self.verb, self.name = clock, verb, name
        self.on = False
        self.count = 0

    async def before(self, request: ApiRequest) -> None:
        """Keep the request."""
        meant = request.kind is LEASES and request.target.name == self.name
        if self.on and meant and request.verb == self.verb:
            self.count += 1
            await self.clock.sleep(100_000)

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
    body = pod(f"on-{name}", 0)
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
    hangs = Hangs(bench.clock, verb, page_name(leaf, 0))
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


async def test_a_stray_lease_that_hangs_keeps_no_other_from_its_end(bench: Bench) -> None:
    """Nobody answers about a lease that the sweep finds: that of a wide gang is dropped as ever."""
    hangs = Hangs(bench.clock, "get", STRAY)
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


async def test_a_page_that_hangs_keeps_no_pod_from_moving(bench: Bench) -> None:
    """The page that would say whether another leads is silent; the next one says it as well."""
    hangs = Hangs(bench.clock, "get", page_name("leaf-0-0", 0))
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
