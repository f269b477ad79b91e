"""A binding that is refused for a pod that is gone makes nothing impossible."""

from __future__ import annotations

import asyncio
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import page_name
from tests.k8s_bridge.ledger.harness import TEAM, Leader, World, on


class Webhook:
    """Refuses the binding of one pod, which is deleted while it makes up its mind."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def before(self, request: ApiRequest) -> None:
        """Refuse it: admission is asked before storage is."""
        if request.subresource == "binding" and request.target.name == "four-3":
            await self.world.cluster.delete(PODS, Target(TEAM, "four-3"))
            raise Refused("denied the request", 422, "Invalid")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_the_others_stay() -> None:
    """Three of four are bound, the fourth is deleted: nothing goes back, nobody is evicted."""
    world = await World().start()
    leader = Leader(world, "a")
    leader.cluster.interceptors.append(Webhook(world))
    await leader.take_over()
    four = await world.gang("four", on(0))
    await leader.commit(four)
    await leader.rest()
    assert not leader.rolled
    assert sorted(body["metadata"]["name"] for body in world.pods()) == [
        "four-0",
        "four-1",
        "four-2",
    ]
    world.check()


async def test_the_others_stay_where_it_is_deleted_before_that_is_written_down() -> None:
    """The node of the fourth is not ready, and its page is busy until that pod is deleted."""
    world = await World().start()
    leader = await Leader(world, "a").take_over()
    four = await world.gang("four", on(0))
    (commit,) = (await leader.decide(four)).committed
    world.true_pods.dead_nodes.add(on(0)[3])
    async with leader.ledger.writing.of([page_name("leaf-0-0", 0)]):
        leader.keeping.forward(commit)
        for _ in range(100):
            await asyncio.sleep(0)
        assert [bool(body["spec"].get("nodeName")) for body in world.pods()] == [True] * 3 + [False]
        await world.cluster.delete(PODS, Target(TEAM, "four-3"))
    await leader.rest()
    assert not leader.rolled
    assert len(world.pods()) == 3
    world.check()
