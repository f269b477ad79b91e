"""Watches that end, fall silent, repeat themselves, lag, or have lost their thread.

One watch tells of one kind in the order of versions: etcd promises that, and the apiserver's
cache keeps it. What really comes in another order are the events of different watches: a pod
is seen on a node that is not known yet, a node is gone whose pods still seem to run.
"""

from __future__ import annotations

import random
from collections import defaultdict

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Gone
from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Family, Fate, Hitch, Scene, Spells

EXPIRED = Gone("too old resource version", 410, "Expired")


class Cut(Family):
    """The connection breaks, or the server ends the watch."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.2)

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """End it here."""
        if not self._spells.strikes(identity, now):
            return None
        if self._spells.chance.random() < 0.5:
            return Hitch("watch cut", ends=True)
        return Hitch("watch cut", error=Ambiguous("connection reset"))


class Stalled(Family):
    """The watch says nothing for a while; then all that was held back comes at once."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.05)

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """Hold it back."""
        if not self._spells.strikes(identity, now):
            return None
        silent = self._spells.chance.choice((0.5, 2.0, 8.0, 20.0, 60.0))
        return Hitch("watch stalled", silent=silent)


class Reordered(Family):
    """Watches lag behind each other, each by a time of its own that changes now and then."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.9)
        self._lags: defaultdict[tuple[str, Kind], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """Let it lag."""
        if not self._spells.strikes(identity, now):
            return None
        lag = self._lags[identity, kind]
        if now >= lag[1]:
            lag[:] = self._spells.chance.choice((0.0, 0.05, 0.5, 3.0)), now + 5
        return Hitch("watches reordered", silent=lag[0]) if lag[0] else None


class Repeated(Family):
    """An event comes again, as from a server that lags behind the one before it."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.4)

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """Repeat an older one before it."""
        return (
            Hitch("event repeated", repeats=True) if self._spells.strikes(identity, now) else None
        )


class Expired(Family):
    """410, as the answer to a watch and in the middle of one."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.3)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Refuse to start it there."""
        if request.verb != "watch" or not self._spells.strikes(identity, now):
            return None
        return Fate("410", arrives=False, answer=EXPIRED)

    def on_event(self, identity: str, kind: Kind, now: float) -> Hitch | None:
        """End it."""
        return Hitch("410", error=EXPIRED) if self._spells.strikes(identity, now) else None
