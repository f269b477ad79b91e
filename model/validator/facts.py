"""The static facts of a fabric, kept for as long as the fabric object lives."""

from __future__ import annotations

import weakref
from dataclasses import replace

from fourleaf.model.config.spec import Spec
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.validator.leaf_windows import Paths
from fourleaf.model.validator.locations import LegalLocations
from fourleaf.model.validator.room import EmptyLeafRoom
from fourleaf.model.validator.static_keys import EligibilityKey, PlacementKey, kind_of, phantom_kind

MOST_KINDS = 4096
"""How many kinds of gangs are kept per fabric before the facts start afresh."""


class FabricFacts:
    """Everything about one fabric that no busy node can change, by kind of gang."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = weakref.ref(fabric)
        self._flat = fabric.flat
        self._silent = not fabric.states_bandwidth
        self.paths = Paths(fabric)
        self._rooms: dict[EligibilityKey, EmptyLeafRoom] = {}
        self._locations: dict[PlacementKey, LegalLocations] = {}

    def of_kind(self, kind: PlacementKey) -> LegalLocations:
        """Return the leaf rule for gangs of `kind`."""
        found = self._locations.get(kind)
        if found is None:
            if len(self._locations) >= MOST_KINDS:
                self._locations.clear()
                self._rooms.clear()
            room = self._rooms.get(kind.ground)
            if room is None:
                fabric = self._fabric()
                if fabric is None:
                    raise ReferenceError("the fabric of these facts is gone")
                room = self._rooms[kind.ground] = EmptyLeafRoom(fabric, kind.ground)
            anew = None
            if kind.ground.held:
                anew = self.of_kind(replace(kind, ground=replace(kind.ground, held=())))
            found = self._locations[kind] = LegalLocations(self.paths, room, kind, anew)
        return found

    def of_gang(self, spec: Spec, gang: Gang, extensions: Extensions) -> LegalLocations:
        """Return the leaf rule for `gang`."""
        kind = kind_of(spec, gang, extensions, self._flat, self._silent)
        anew = self.of_kind(kind)
        held = anew.room.held(gang)
        return self.of_kind(replace(kind, ground=replace(kind.ground, held=held))) if held else anew

    def of_phantom(self, spec: Spec, nodes: int, gpus: int) -> LegalLocations:
        """Return the leaf rule for a phantom of `nodes` pods of `gpus` GPUs."""
        return self.of_kind(phantom_kind(spec, nodes, gpus, self._flat))


_FACTS: dict[int, tuple[weakref.ref[Fabric], FabricFacts]] = {}


def facts_of(fabric: Fabric) -> FabricFacts:
    """Return the facts of `fabric`, computed once per object and dropped with it.

    Kept by identity: comparing two fabrics would cost more than the facts are worth.
    """
    found = _FACTS.get(id(fabric))
    if found is not None and found[0]() is fabric:
        return found[1]
    key = id(fabric)
    facts = FabricFacts(fabric)

    def forget(gone: weakref.ref[Fabric]) -> None:
        held = _FACTS.get(key)
        if held is not None and held[0] is gone:
            del _FACTS[key]

    _FACTS[key] = (weakref.ref(fabric, forget), facts)
    return facts
