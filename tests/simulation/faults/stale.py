"""Lists that are older than what is."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.kinds import Kind
from tests.simulation.faults.fault import Family, Scene, Spells


class StaleList(Family):
    """A reflection's list is answered from a cache that lags behind.

    Quorum reads, by which the ledger decides, are never old: no API server may do that.
    """

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 1.0)

    def on_list(self, identity: str, kind: Kind, now: float) -> float:
        """Let it be that many seconds old."""
        if not self._spells.strikes(identity, now):
            return 0.0
        return self._spells.chance.choice((0.5, 3.0, 15.0, 60.0))
