"""Upgrades and rollbacks: replicas of an older version, and formats that change under way."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from tests.simulation.churn import config
from tests.simulation.faults.fault import Act, Family, Scene
from tests.simulation.faults.machines import moments

if TYPE_CHECKING:
    from tests.simulation.world import World

OLD = KNOWN[:1]
"""What the version before knew."""


@dataclass(frozen=True, slots=True)
class _Replaced:
    """A replica makes way for one of another version, at once or after a while."""

    victim: str
    formats: tuple[int, ...]
    seconds: float

    async def __call__(self, world: World) -> None:
        replica = world.replica(self.victim)
        name = "replica of the version before" if self.formats == OLD else "replica of this version"
        world.story.struck(name, f"{replica.identity} for {self.seconds} s")
        replica.crash()
        await world.clock.sleep(self.seconds)
        if not world.calm:
            replica.formats = self.formats
        replica.start()


@dataclass(frozen=True, slots=True)
class _Set:
    """Somebody sets the format of the ledger."""

    number: int

    async def __call__(self, world: World) -> None:
        world.story.struck("format set", str(self.number))
        world.ledger_format = self.number
        config.write(world, config.GOOD[0])


class Versions(Family):
    """Replicas of two versions take turns, while the format goes up and down."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        others = [
            Act(
                moment,
                _Replaced(
                    chance.choice(("", *scene.replicas)),
                    chance.choice((OLD, KNOWN)),
                    chance.choice((0.1, 2.0, 8.0)),
                ),
            )
            for moment in moments(chance, scene, 5)
        ]
        formats = [Act(at, _Set(chance.choice((2, 2, 1)))) for at in moments(chance, scene, 4)]
        self._acts = [*others, *formats]

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts
