"""Room that namespaces keep: what is remembered of them, and by which share they pay it back."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.k8s_bridge.relocation.tenants.kept_room import KeptRoom
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from tests import small
from tests.twins.virtual_clock import VirtualClock


@dataclass
class Desk:
    """Looks, a second apart, at the one leaf `a` of two free nodes of 8 GPUs."""

    clock: VirtualClock
    room: KeptRoom

    async def look(
        self, *namespaces: str, fabric: Fabric | None = None, seconds: int = 1, **spec: Any
    ) -> None:
        """These namespaces keep both nodes; what each config says is in `spec`."""
        for _ in range(seconds):
            await self.clock.advance(1)
            world = small.snapshot(small.fabric([[2]]) if fabric is None else fabric, **spec)
            view = SimpleNamespace(
                open=[kept(name) for name in namespaces],
                cache=SimpleNamespace(config=world.config),
                reading=SimpleNamespace(snapshot=world),
            )
            self.room.look(cast("ClusterView", view), (), ())


def desk() -> Desk:
    """A term begins."""
    clock = VirtualClock()
    return Desk(clock, KeptRoom(cast("Any", None), clock))


def kept(namespace: str) -> Relocation:
    """A place for two pods of 8 GPUs."""
    seats = tuple(
        Seat(Target(namespace, f"g-{i}", f"{namespace}-{i}"), (0, 0, i), "", f"a{i}", small.WHOLE)
        for i in range(2)
    )
    gang = GangKey(namespace, "g")
    return Relocation(gang, Purpose.RESERVATION, seats, (), opened=0.0, until=3600.0)


async def test_a_quota_that_was_nothing_for_a_while_is_the_share_again() -> None:
    """16 GPUs were kept for 3 s under a quota of 0: under one of 8 they are paid back in 6 s."""
    room = desk()
    await room.look("ml", seconds=3, namespaces={"ml": {"gpuQuota": 0}})
    assert room.room.rests("ml", 0.0)
    await room.look(seconds=5, namespaces={"ml": {"gpuQuota": 8}})
    assert room.room.rests("ml", 0.0)
    await room.look(seconds=1, namespaces={"ml": {"gpuQuota": 8}})
    assert not room.room.rests("ml", 0.0)


async def test_nodes_that_were_away_for_a_while_count_again() -> None:
    """What was kept beyond a quota of 8 is paid back by all 16 GPUs, as soon as there are any."""
    room = desk()
    await room.look("ml", seconds=4, namespaces={"ml": {"gpuQuota": 8}})
    await room.look("ml", fabric=Fabric(()))
    assert room.room.rests("ml", 0.0)
    await room.look(seconds=2)
    assert not room.room.rests("ml", 0.0)


async def test_nothing_is_kept_of_namespaces_that_keep_nothing() -> None:
    """A hundred come and go, within their share."""
    room = desk()
    for number in range(100):
        await room.look(f"ns-{number}")
    await room.look()
    assert not room.room._excess
    assert not room.room._sharers
