"""A binding that is refused for a pod that is gone makes nothing impossible."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
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
