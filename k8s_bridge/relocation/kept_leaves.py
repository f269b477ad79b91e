"""Kept places whose leaves are others by now, or whose config is."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.model.config.spec import TopologyConstraints
from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot

_Ground = tuple[tuple[tuple[str, str], ...], TopologyConstraints, tuple[str, ...] | None]
"""Leaf and spine of each place, and what the config says of places in leaves."""


class KeptLeaves:
    """What places were legal by, as a leader first saw it: their leaves, and the config.

    Which other nodes a gang may use is left out, though a leaf is complete by that: it changes with
    the very pods that go for the gang, and what these went for is not to be given up for it.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[GangKey, float], _Ground] = {}

    def moved(self, there: Iterable[Relocation], snapshot: Snapshot) -> frozenset[GangKey]:
        """Gangs of those of these, which are all that there are, of which that has changed."""
        now = {(one.gang, one.opened): _ground(one, snapshot) for one in there}
        self._first = {key: self._first.get(key, ground) for key, ground in now.items()}
        return frozenset(key[0] for key, ground in now.items() if ground != self._first[key])


def _ground(one: Relocation, snapshot: Snapshot) -> _Ground:
    fabric, spec = snapshot.fabric, snapshot.config.spec
    nodes = (*(seat.node for seat in one.seats), *sorted(node for _, node in one.stays))
    leaves = (fabric.leaves[fabric.leaf_of[node]] for node in nodes if node in fabric.leaf_of)
    places = tuple((leaf.name, leaf.spine) for leaf in leaves)
    return places, spec.topology_constraints, spec.namespace(one.gang.namespace).domains
