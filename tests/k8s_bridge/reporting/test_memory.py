"""What the reporter keeps of gangs ends with them."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.test_scheduler import TEAM, Bench


async def test_gangs_that_were_deleted_while_they_waited() -> None:
    """Twenty gangs come, find no place and are deleted, two by two: none of them is kept."""
    bench = Bench()
    for body in nodes(1, 1, 2):
        await bench.cluster.create(NODES, "", body)
    scheduler = await bench.start()
    for turn in range(10):
        pods = [pod for i in range(2) for pod in gang(f"g{turn}-{i}", 4)]
        await submit(bench.cluster, TEAM, pods)
        await bench.clock.advance(3)
        for pod in pods:
            await bench.cluster.delete(PODS, Target(TEAM, pod["metadata"]["name"]))
        await bench.clock.advance(3)
    await submit(bench.cluster, TEAM, gang("last", 2))
    await bench.clock.advance(3)
    assert (scheduler.reporter._waited, scheduler.reporter._bound) == ({}, {})
    await bench.stop()


class NeverBound:
    """Refuses to bind pods, for the API server is not able to."""

    async def before(self, request: ApiRequest) -> None:
        """Answer 500 to each second binding."""
        if request.subresource == "binding" and request.target.name.endswith("-1"):
            raise Ambiguous("etcd has no leader", 500)

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Nothing is lost."""


async def test_gangs_that_were_deleted_while_they_were_being_bound() -> None:
    """Half of a gang is bound when it is deleted: the next cycle forgets it."""
    bench = Bench()
    for body in nodes(1, 1, 4):
        await bench.cluster.create(NODES, "", body)
    scheduler = await bench.start(client=bench.cluster.client("a", NeverBound()))
    await submit(bench.cluster, TEAM, gang("half", 2))
    await bench.clock.advance(3)
    assert scheduler.reporter._waited
    for name in ("half-0", "half-1"):
        await bench.cluster.delete(PODS, Target(TEAM, name))
    await bench.clock.advance(30)
    await submit(bench.cluster, TEAM, gang("next", 1))
    await bench.clock.advance(3)
    assert (scheduler.reporter._waited, scheduler.reporter._bound) == ({}, {})
    await bench.stop()
