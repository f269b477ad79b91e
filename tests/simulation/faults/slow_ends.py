"""Pods that take their time to go: finalizers that somebody takes off much later."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from tests.simulation.chance import stream
from tests.simulation.faults.fault import Act, Family, Scene
from tests.simulation.faults.machines import moments
from tests.simulation.jobs import TEAM, bound, ended

if TYPE_CHECKING:
    from tests.simulation.world import World

FINALIZER = "example.org/saves-its-work"


@dataclass(frozen=True, slots=True)
class _Lingering:
    """A share of the pods that run stay for so many seconds after they were told to go."""

    share: float
    seconds: float

    async def __call__(self, world: World) -> None:
        chance = stream(world.seed, "lingering", f"{world.clock.monotonic():.6f}")
        for record in list(world.store.records(PODS, TEAM)):
            going = ended(record) or "deletionTimestamp" in record.metadata
            if bound(record) and not going and chance.random() < self.share:
                _put(world, record, [FINALIZER])
                world.spawn(self._see_off(world, record.metadata["name"], record.metadata["uid"]))

    async def _see_off(self, world: World, name: str, uid: str) -> None:
        """Take the finalizer off once the pod has been going for so long, or all is calm."""
        told = None
        while (record := world.jobs.find(name)) and record.metadata["uid"] == uid:
            now = world.clock.monotonic()
            if told is None and "deletionTimestamp" in record.metadata:
                told = now
                world.story.struck("slow to end", f"{name} for {self.seconds} s")
            if world.calm or (told is not None and now - told >= self.seconds):
                _put(world, record, [])
                return
            await world.clock.sleep(0.5)


class SlowEnds(Family):
    """Some of the pods that run end later than the places last that are kept for others."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._acts = [
            Act(
                moment,
                _Lingering(chance.choice((0.2, 0.6, 1.0)), chance.choice((2.0, 10.0, 35.0, 200.0))),
            )
            for moment in moments(chance, scene, 4)
        ]

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts


def _put(world: World, record: StoredObject, finalizers: list[str]) -> None:
    body = record.whole()
    body["metadata"]["finalizers"] = finalizers
    world.store.update(PODS, record, body)
