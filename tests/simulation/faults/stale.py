"""Lists that are older than what is."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.kinds import NODES, Kind
from tests.simulation.faults.fault import Family, Hitch, Scene, Spells


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


class StaleStart(Family):
    """Whoever starts is told of the nodes as they were, and hears nothing newer for a while.

    So the first steps of a new leader may be taken by a list of nodes that is long out of date.
    """

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._chance = chance
        self._ends = scene.ends
        self._listed: set[str] = set()
        self._heard: set[str] = set()

    def on_list(self, identity: str, kind: Kind, now: float) -> float:
        """Let the first list of nodes be that many seconds old."""
        if kind is not NODES or identity in self._listed or now >= self._ends:
            return 0.0
        self._listed.add(identity)
        return self._chance.choice((5.0, 20.0, 60.0))

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """Let what has happened since come late."""
        if kind is not NODES or identity in self._heard or identity not in self._listed:
            return None
        self._heard.add(identity)
        return Hitch("stale start", silent=self._chance.choice((1.0, 5.0, 15.0)))
