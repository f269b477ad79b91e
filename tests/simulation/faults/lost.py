"""Requests that never arrive, and answers that never come back."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Family, Fate, Scene, Spells


class LostBefore(Family):
    """The request is lost on its way; the sender waits for nothing."""

    fault, arrives = "lost before", False

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.4)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Tell its sender nothing."""
        if not self._spells.strikes(identity, now):
            return None
        wait = self._spells.chance.choice((0.01, 1.0, 8.0))
        return Fate(self.fault, arrives=self.arrives, back=wait, answer=Ambiguous("no answer"))


class LostAfter(LostBefore):
    """The request is done, and the answer is lost."""

    fault, arrives = "lost after", True
