"""The newest body of every object but nodes, and what of it counts."""

from __future__ import annotations

from typing import Any

from fourleaf.model.readers.gangs.minimum_size import POD_GROUPS
from fourleaf.model.readers.objects.inventory import namespace_in
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.resizes import HELD, is_infeasible
from fourleaf.model.readers.pods.volumes import class_of, selected_by_others

SOURCE = "live"
"""Where problems say that the objects come from."""
Address = tuple[str, str]
"""Namespace ("" for cluster-scoped objects) and name."""
_POD = ("uid", "labels", "annotations", "ownerReferences", "creationTimestamp")
_CAPACITY = ("storageClassName", "nodeTopology", "capacity", "maximumVolumeSize")
_OWNER = ("uid", "annotations", "ownerReferences")
GROUP_KINDS = {group: dialect for dialect, group in POD_GROUPS.items()}
"""API group of a PodGroup -> its dialect."""


def address_of(kind: str, body: Any) -> Address | None:
    """Where an object belongs, None where it does not say so."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict):
        return None
    name, namespace = metadata.get("name"), namespace_in(kind, metadata)
    if not isinstance(name, str) or not name or not isinstance(namespace, str):
        return None
    return namespace, name


def what_counts(kind: str, body: Body) -> tuple[Any, ...]:
    """All of an object that can change a plan; for anything else, it is the same object."""
    metadata, spec = body["metadata"], body.get("spec")
    match kind:
        case "Pod":
            ends = metadata.get("deletionTimestamp") is not None
            status = {} if body.get("status") is None else body["status"]
            runs = _some(status, "phase", "startTime", "resourceClaimStatuses", "nominatedNodeName")
            held = _some(status, *HELD)
            never = any(held) and isinstance(status, dict) and is_infeasible(status)
            return (spec, *runs, *held, never, ends, *_some(metadata, *_POD))
        case "PodGroup":
            return (spec,)
        case "ResourceClaim":
            ends = metadata.get("deletionTimestamp") is not None
            return (spec, body.get("status"), ends, metadata.get("uid"))
        case "PersistentVolumeClaim":
            ends = metadata.get("deletionTimestamp") is not None
            phase = _some(body.get("status"), "phase")
            told = class_of(body), selected_by_others(body)
            return (spec, *phase, ends, *told, *_some(metadata, "uid", "ownerReferences"))
        case "PersistentVolume":
            return (spec, metadata.get("labels"))
        case "StorageClass":
            return tuple(_some(body, "provisioner", "volumeBindingMode", "allowedTopologies"))
        case "CSIDriver":
            return tuple(_some(spec, "storageCapacity"))
        case "CSIStorageCapacity":
            return tuple(_some(body, *_CAPACITY))
        case "PriorityClass":
            return tuple(_some(body, "value", "globalDefault"))
        case "Job":
            return (spec, *_some(body.get("status"), "succeeded"), *_some(metadata, *_OWNER))
        case _:
            return (spec, *_some(metadata, *_OWNER))


def _some(value: Any, *keys: str) -> list[Any]:
    return [value.get(key) for key in keys] if isinstance(value, dict) else [value]


class ObjectCache:
    """The newest body of every owner, PodGroup and PriorityClass."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], dict[Address, Body]] = {}

    def of(self, group: str, kind: str) -> dict[Address, Body]:
        """All objects of one kind; to be changed by its owner alone."""
        return self._kinds.setdefault((group, kind), {})


class ObjectView:
    """The bodies as manifests of one reading: what is wrong with them goes to its report."""

    def __init__(self, bodies: ObjectCache, report: Report) -> None:
        self._bodies = bodies
        self._report = report
        self._made: dict[tuple[str, str, Address], Manifest] = {}

    def of(self, group: str, kind: str) -> list[Manifest]:
        """All objects of one kind."""
        return [
            self._manifest(group, kind, at, body)
            for at, body in self._bodies.of(group, kind).items()
        ]

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """One object, None where it is not there."""
        body = self._bodies.of(group, kind).get((namespace, name))
        return None if body is None else self._manifest(group, kind, (namespace, name), body)

    def spaces(self, group: str, kind: str, name: str) -> list[str]:
        """The namespaces that have an object of that name, sorted."""
        return sorted(space for space, called in self._bodies.of(group, kind) if called == name)

    def _manifest(self, group: str, kind: str, at: Address, body: Body) -> Manifest:
        found = self._made.get((group, kind, at))
        if found is None:
            found = Manifest(self._report, SOURCE, group, kind, *at, body)
            self._made[group, kind, at] = found
        return found
