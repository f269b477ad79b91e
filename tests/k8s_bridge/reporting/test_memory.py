"""What the reporter keeps of gangs ends with them."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import gang, nodes, submit
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
    assert len(scheduler.reporter._created) <= 1
    await bench.stop()
