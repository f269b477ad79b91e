"""Volumes that nodes attach: which of them a pod uses, and what is attached where.

As kube-scheduler's plugin NodeVolumeLimits counts them: the volumes of all pods of a node and its
VolumeAttachments, each once. A pod of ours asks for each of its volumes as an amount of the node,
so that the members that a plan puts on one node count together; a volume that several of them
share counts once for each. All other volumes have stand-ins among the pods that run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fourleaf.model.readers.objects.inline_disks import ATTACHED_DISKS
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body, part_of
from fourleaf.model.readers.objects.storage_kinds import CLAIM, STORAGE_CLASS, VOLUME
from fourleaf.model.readers.pods.volumes import claims_of, class_of, disks_of, volume_of
from fourleaf.model.resources import ATTACH_PREFIX, Resources, with_extra
from fourleaf.model.snapshot import RunningPod

AttachedVolume = tuple[str, str]
"""Driver, and what it calls the volume; a volume that is still to be made goes by its claim."""

STANDS_IN = " (attached volume)"
"""What follows the name of a volume that stands for a pod; no pod has a space in its name."""

_MIGRATED = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
}
"""Sources of older PersistentVolumes, and the drivers that attach them now."""
_PROVISIONERS = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}


def volumes_to_attach(
    namespace: str, name: str, spec: Body, objects: Objects
) -> tuple[AttachedVolume, ...]:
    """The volumes that the pod `name` has attached to its node, each once."""
    found: dict[AttachedVolume, None] = {}
    for _, called in claims_of(name, spec):
        claim = objects.get(*CLAIM, namespace, called)
        one = None if claim is None else _of_claim(claim.body, f"{namespace}/{called}", objects)
        if one is not None:
            found[one] = None
    for source, disk in disks_of(spec):
        handle = part_of(disk, source).get(ATTACHED_DISKS[source])
        if isinstance(handle, str) and handle:
            found[_MIGRATED[source], handle] = None
    return tuple(found)


def _of_claim(claim: Body, title: str, objects: Objects) -> AttachedVolume | None:
    volume = objects.get(*VOLUME, "", volume_of(claim)) if volume_of(claim) else None
    if volume is not None:
        return _of_volume(volume.name, volume.body)
    storage = objects.get(*STORAGE_CLASS, "", class_of(claim)) if class_of(claim) else None
    provisioner = None if storage is None else storage.body.get("provisioner")
    if not isinstance(provisioner, str) or not provisioner:
        return None
    return _PROVISIONERS.get(provisioner, provisioner), title


def _of_volume(name: str, volume: Body) -> AttachedVolume | None:
    spec = part_of(volume, "spec")
    csi = part_of(spec, "csi")
    if csi.get("driver") and csi.get("volumeHandle"):
        return str(csi["driver"]), str(csi["volumeHandle"])
    driver = next((driver for source, driver in _MIGRATED.items() if spec.get(source)), None)
    return None if driver is None else (driver, name)


def asking_for(
    request: Resources, volumes: tuple[AttachedVolume, ...], limited: frozenset[str]
) -> Resources:
    """`request` with the volumes of drivers that some node limits: only those can run out."""
    names = (f"{ATTACH_PREFIX}{driver}" for driver, _ in volumes)
    return with_extra(request, ((name, 1) for name in names if name in limited))


@dataclass(frozen=True, slots=True)
class _Attachment:
    """A VolumeAttachment: the volume by its name."""

    node: str
    driver: str
    volume: str


class AttachedVolumes:
    """What is attached to each node, as pods and VolumeAttachments come and go.

    Only nodes of which something has changed are counted again.
    """

    def __init__(self) -> None:
        self._pods: dict[str, dict[int, tuple[tuple[AttachedVolume, ...], bool]]] = {}
        self._node_of: dict[int, str] = {}
        self._attachments: dict[str, _Attachment] = {}
        self._by_node: dict[str, dict[str, _Attachment]] = {}
        self._by_volume: dict[str, dict[str, _Attachment]] = {}
        self._stand_ins: dict[str, tuple[RunningPod, ...]] = {}
        self._touched: set[str] = set()

    @property
    def changed(self) -> bool:
        """Whether something is new since the stand-ins were asked for."""
        return bool(self._touched)

    def add(
        self, pod: object, node: str, volumes: tuple[AttachedVolume, ...], counts: bool
    ) -> None:
        """Take in a pod with its volumes; whether they `count` as what it asks for."""
        if volumes:
            self._pods.setdefault(node, {})[id(pod)] = volumes, counts
            self._node_of[id(pod)] = node
            self._touched.add(node)

    def discard(self, pod: object) -> None:
        """Forget a pod."""
        node = self._node_of.pop(id(pod), None)
        if node is not None:
            del self._pods[node][id(pod)]
            if not self._pods[node]:
                del self._pods[node]
            self._touched.add(node)

    def attach(self, name: str, body: Body | None) -> None:
        """Take a VolumeAttachment as it is now, None once it is gone."""
        known = self._attachments.pop(name, None)
        if known is not None:
            for index, key in ((self._by_node, known.node), (self._by_volume, known.volume)):
                del index[key][name]
                if not index[key]:
                    del index[key]
            self._touched.add(known.node)
        one = None if body is None else _attachment(body)
        if one is not None:
            self._attachments[name] = one
            self._by_node.setdefault(one.node, {})[name] = one
            self._by_volume.setdefault(one.volume, {})[name] = one
            self._touched.add(one.node)

    def volume_changed(self, volume: str) -> None:
        """A PersistentVolume came, went or says something new."""
        self._touched.update(one.node for one in self._by_volume.get(volume, {}).values())

    def limit_changed(self, node: str) -> None:
        """The limits of a node are others."""
        self._touched.add(node)

    def stand_ins(
        self, objects: Objects, limits: Callable[[str], Mapping[str, int]]
    ) -> Mapping[str, tuple[RunningPod, ...]]:
        """Node -> a stand-in for each volume there that counts with no pod and has a limit."""
        for node in self._touched:
            found = tuple(self._counted(node, objects, limits(node)))
            self._stand_ins.pop(node, None)
            if found:
                self._stand_ins[node] = found
        self._touched.clear()
        return self._stand_ins

    def _counted(
        self, node: str, objects: Objects, limits: Mapping[str, int]
    ) -> Iterator[RunningPod]:
        there = self._attached(node, objects)
        counted: set[AttachedVolume] = set()
        for volumes, counts in self._pods.get(node, {}).values():
            there.update(volumes)
            if counts:
                counted.update(volumes)
        for driver, handle in sorted(there - counted) if limits else ():
            name = f"{ATTACH_PREFIX}{driver}"
            if name in limits:
                yield RunningPod(
                    namespace="",
                    name=f"{driver}/{handle}{STANDS_IN}",
                    node=node,
                    request=Resources(pods=0, extra=((name, 1),)),
                )

    def _attached(self, node: str, objects: Objects) -> set[AttachedVolume]:
        found = set()
        for one in self._by_node.get(node, {}).values():
            volume = objects.get(*VOLUME, "", one.volume)
            csi = {} if volume is None else part_of(volume.body, "spec", "csi")
            if csi.get("volumeHandle"):
                found.add((one.driver, str(csi["volumeHandle"])))
        return found


def _attachment(body: Body) -> _Attachment | None:
    spec = part_of(body, "spec")
    volume = part_of(spec, "source").get("persistentVolumeName")
    node, driver = spec.get("nodeName"), spec.get("attacher")
    if isinstance(volume, str) and isinstance(node, str) and isinstance(driver, str) and driver:
        return _Attachment(node, driver, volume)
    return None
