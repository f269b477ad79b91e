"""Requests and answers that take long: also longer than a leader's lease holds."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Family, Fate, Scene, Spells

PATIENCE = 5.0
"""Seconds after which the sender gives up, though what it sent is still on its way."""


class Slow(Family):
    """The request waits somewhere; its sender may have given up long before it arrives."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.4)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Delay it on one way or both, or answer before it arrives."""
        if not self._spells.strikes(identity, now):
            return None
        chance = self._spells.chance
        late = chance.choice((0.1, 0.5, 2.0, 4.0, 9.0, 20.0))
        match chance.randrange(3):
            case 0:
                return Fate("delayed", there=min(late, PATIENCE))
            case 1:
                return Fate("delayed", back=min(late, PATIENCE))
            case _:
                unknown = Ambiguous("gave up waiting")
                return Fate("delayed", again=late, arrives=False, answer=unknown, back=late / 4)
