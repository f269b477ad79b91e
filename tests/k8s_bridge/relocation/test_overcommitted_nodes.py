"""Nodes that owe CPU: pods of others ask for more than they have, as where a kubelet restarts."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, pod, submit
from fourleaf.k8s_bridge.relocation.cluster_view import owes
from fourleaf.model.resources import Resources
from tests.k8s_bridge.relocation.bench import Bench

NAMES = [f"n-0-{leaf}-{number}" for leaf in range(4) for number in range(4)]


async def overcommit(bench: Bench, node: str) -> None:
    """A pod of another scheduler has 500 cores of a node of fewer."""
    await add_namespace(bench.cluster, "sys")
    body = pod("own", 0, "default-scheduler")
    body["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500"}}
    body["spec"]["nodeName"] = node
    await submit(bench.cluster, "sys", [body])
    await bench.clock.advance(2)


async def test_a_repair_takes_such_a_node() -> None:
    """A gang of 15 that asks for GPUs alone loses a node: the sixteenth owes CPU, and is taken."""
    bench = Bench(1, 4)
    try:
        await bench.start()
        await bench.submit("a", 15)
        (spare,) = set(NAMES) - set((await bench.places("a")).values())
        await overcommit(bench, spare)
        bench.lose((await bench.places("a"))[0])
        await bench.clock.advance(60)
        assert (await bench.places("a"))[0] == spare
        assert len(bench.solved.repairs) == 1
    finally:
        await bench.stop()


async def test_a_preemption_takes_such_a_node() -> None:
    """All 16 nodes are a lower gang's, one of them owes CPU: a higher gang of 16 has them all."""
    bench = Bench(1, 4)
    try:
        await bench.start()
        await bench.classes(low=1, high=10)
        await bench.submit("a", 16, priority="low")
        await overcommit(bench, NAMES[0])
        await bench.submit("top", 16, priority="high")
        await bench.clock.advance(120)
        assert len(await bench.places("top")) == 16
        assert len(bench.solved.preemptions) == 1
    finally:
        await bench.stop()


def test_what_is_owed_of_what_is_asked_for() -> None:
    """4 GPUs and a core are left to give, or one less than nothing of each thing in turn."""
    asked = Resources(2, 1000, 10, 1, (("rdma/hca", 1), ("spare", 0)))
    left = Resources(4, 1000, 0, 3, (("rdma/hca", 0), ("spare", -1)))
    assert not owes(left, asked)
    assert not owes(Resources(-1, -1, -1, 3), Resources(0, 0, None, 1))
    short = [
        Resources(-1, 1000, 0, 3),
        Resources(4, -1, 0, 3),
        Resources(4, 1000, -1, 3),
        Resources(4, 1000, 0, -1),
        Resources(4, 1000, 0, 3, (("rdma/hca", -1),)),
    ]
    assert all(owes(one, asked) for one in short)
