"""Members that are on their way to kept places, and come back: the places are kept meanwhile."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Conflict
from fourleaf.k8s_bridge.cluster.kinds import LEASES, NODES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.k8s_bridge.relocation.bench import Bench


class PageConflicts:
    """One of two pages changes under who writes it for members that left; records do not go."""

    def __init__(self, bench: Bench, number: int) -> None:
        self.bench = bench
        self.left = number

    async def before(self, request: ApiRequest) -> None:
        """Lose the commit."""
        if request.kind is not LEASES or not self.left or not await self.bench.events("Evicted"):
            return
        name = request.target.name
        is_page = request.verb == "update" and name.startswith("page-leaf-0-3")
        if is_page or (request.verb == "delete" and name.startswith("gang-")):
            self.left -= 1
            raise Conflict("please apply your changes to the latest version")

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_places_are_kept_until_their_members_stand_there(bench: Bench) -> None:
    """Eight members leave drained nodes, and commits of their places are lost to conflicts.

    At each moment until then places are kept for them, and they come to these in the end.
    """
    api = PageConflicts(bench, 20)
    bench.tasks.pop().cancel()
    await bench.start("b", answers=api)
    await bench.clock.advance(30)
    await bench.submit("g", 8)
    before = await bench.places("g")
    for node in before.values():
        asked = {"metadata": {"annotations": {DRAIN: "true"}}, "spec": {"unschedulable": True}}
        await bench.cluster.patch(NODES, Target("", node), asked)
    while not await bench.events("Evicted") and bench.clock.monotonic() < 300:
        await bench.clock.advance(0.05)
    while api.left and bench.clock.monotonic() < 300:
        assert await bench.open_relocations() == ["g"]
        await bench.clock.advance(0.05)
    await bench.clock.advance(30)
    places = await bench.places("g")
    assert len(places) == 8
    assert set(places.values()).isdisjoint(before.values())
    assert not api.left
    assert not await bench.open_relocations()
