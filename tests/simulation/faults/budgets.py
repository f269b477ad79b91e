"""Disruption budgets that come and go, and forbid some evictions or all of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import DISRUPTION_BUDGETS
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from tests.simulation.faults.fault import Act, Family, Scene
from tests.simulation.faults.machines import moments
from tests.simulation.jobs import TEAM
from tests.twins.jobs import INDEX

if TYPE_CHECKING:
    from tests.simulation.world import World

PREFIX = "budget-"
_SELECTORS: tuple[Body, ...] = (
    {},
    {},
    {"matchLabels": {INDEX: "0"}},
    {"matchExpressions": [{"key": INDEX, "operator": "In", "values": ["1", "2", "3"]}]},
)
"""All pods of the team, with those of all gangs in one budget; or some members of each gang."""
_LIMITS: tuple[tuple[str, Any], ...] = (
    ("maxUnavailable", 0),
    ("maxUnavailable", 1),
    ("maxUnavailable", "30%"),
    ("minAvailable", 3),
    ("minAvailable", "80%"),
)


@dataclass(frozen=True, slots=True)
class _Made:
    """A budget is there for so many seconds."""

    name: str
    selector: Body
    limit: tuple[str, Any]
    seconds: float

    async def __call__(self, world: World) -> None:
        spec = {"selector": self.selector, self.limit[0]: self.limit[1]}
        world.story.struck("budget", f"{self.name} {spec}")
        body = {"metadata": {"name": self.name}, "spec": spec}
        world.store.create(DISRUPTION_BUDGETS, TEAM, body)
        await world.clock.sleep(self.seconds)
        try:
            record = world.store.find(DISRUPTION_BUDGETS, Target(TEAM, self.name))
        except NotFound:
            return
        world.store.remove(record)


class Budgets(Family):
    """Budgets, at times two over the same pods, of which the API then evicts none."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._acts = [
            Act(
                moment,
                _Made(
                    f"{PREFIX}{number}",
                    chance.choice(_SELECTORS),
                    chance.choice(_LIMITS),
                    chance.choice((3.0, 12.0, 40.0)),
                ),
            )
            for number, moment in enumerate(moments(chance, scene, 4))
        ]

    def acts(self) -> Sequence[Act]:
        """At each of the moments."""
        return self._acts
