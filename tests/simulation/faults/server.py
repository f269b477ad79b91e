"""What the API server does to everybody: it forgets history, and ends all watches."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.simulation.faults.fault import Act, Family, Scene
from tests.simulation.faults.machines import moments

if TYPE_CHECKING:
    from tests.simulation.world import World


async def _compacted(world: World) -> None:
    world.story.struck("compaction", "all history is forgotten")
    world.store.compact()
    world.store.end_watches()


class Compaction(Family):
    """The server restarts with its history compacted: each watch ends, and starts as 410."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._acts = [Act(moment, _compacted) for moment in moments(chance, scene, 3)]

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts
