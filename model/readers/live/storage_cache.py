"""Storage as it changes: claims by volume and by class, room by class, what nodes attach."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.model.readers.live.object_cache import SOURCE, Address, ObjectCache
from fourleaf.model.readers.live.pod_cache import PodCache
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.storage_kinds import (
    ATTACHMENT,
    CAPACITY,
    CLAIM,
    CSI_DRIVER,
    STORAGE_CLASS,
    VOLUME,
)
from fourleaf.model.readers.pods.attached_volumes import AttachedVolumes
from fourleaf.model.readers.pods.storage_capacity import StorageCapacities
from fourleaf.model.readers.pods.volumes import class_of, volume_of


class StorageCache:
    """What is known of storage; marks in the pod cache the gangs that a change concerns.

    A claim is known by its volume, and by its class for as long as it names none: drivers report
    their room after every volume that they make, and that must not read all gangs again.
    """

    def __init__(self, bodies: ObjectCache, pods: PodCache, attached: AttachedVolumes) -> None:
        self.capacities = StorageCapacities()
        self._bodies = bodies
        self._pods = pods
        self._attached = attached
        self._place_of: dict[Address, tuple[str, str]] = {}
        self._claims: dict[tuple[str, str], dict[Address, None]] = {}
        """Kind and name of what a claim depends on -> the claims."""

    def changed(self, group: str, kind: str, at: Address) -> None:
        """An object of storage came, went or says something new."""
        body = self._bodies.of(group, kind).get(at)
        match group, kind:
            case _ if (group, kind) == CLAIM:
                self._index(at, body)
                self._read_again([at])
            case _ if (group, kind) == VOLUME:
                self._read_again(self._on(VOLUME[1], at[1]))
                self._attached.volume_changed(at[1])
            case _ if (group, kind) == STORAGE_CLASS:
                self._pods.read_all_anew()
            case _ if (group, kind) == CSI_DRIVER:
                for (_, name), one in self._bodies.of(*STORAGE_CLASS).items():
                    if one.get("provisioner") == at[1]:
                        self._read_again(self._on(STORAGE_CLASS[1], name))
            case _ if (group, kind) == CAPACITY:
                self._take_capacity(at, body)
            case _ if (group, kind) == ATTACHMENT:
                self._attached.attach(at[1], body)

    def _take_capacity(self, at: Address, body: Body | None) -> None:
        if body is None:
            touched = self.capacities.remove(at)
        else:
            touched = self.capacities.put(Manifest(Report(), SOURCE, *CAPACITY, *at, body))
        for name in touched:
            self._read_again(self._on(STORAGE_CLASS[1], name))

    def _on(self, kind: str, name: str) -> list[Address]:
        return list(self._claims.get((kind, name), ()))

    def _read_again(self, claims: Iterable[Address]) -> None:
        for namespace, name in claims:
            self._pods.owner_changed((namespace, name), OwnerRef(*CLAIM, name))

    def _index(self, at: Address, claim: Body | None) -> None:
        before = self._place_of.pop(at, None)
        if before is not None:
            del self._claims[before][at]
            if not self._claims[before]:
                del self._claims[before]
        if claim is not None:
            volume = volume_of(claim)
            place = (VOLUME[1], volume) if volume else (STORAGE_CLASS[1], class_of(claim))
            self._place_of[at] = place
            self._claims.setdefault(place, {})[at] = None
