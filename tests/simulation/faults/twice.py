"""Requests that arrive twice, as clients and proxies repeat them on a new connection."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Family, Fate, Scene, Spells


class Twice(Family):
    """The server does the same request twice; the sender hears of the first or of the second."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.5)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Deliver it again, at once or much later."""
        if not request.writes or not self._spells.strikes(identity, now):
            return None
        chance = self._spells.chance
        if chance.random() < 0.4:
            return Fate("delivered twice", again=0.01, second=True)
        return Fate("delivered twice", again=chance.choice((0.01, 0.3, 2.0, 7.0, 15.0)))
