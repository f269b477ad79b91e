"""Volumes of a pod: the nodes that its PersistentVolumeClaims leave it, and what they wait for.

As kube-scheduler's plugins VolumeBinding and VolumeZone have it. A claim whose volume is made on
first use leaves all nodes that its StorageClass allows and that have room for it, where the driver
says how much there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from fourleaf.model.gang import Hold
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import (
    NODE_NAME_FIELD,
    NodeConstraint,
    Operator,
    Requirement,
)
from fourleaf.model.quantity import in_bytes
from fourleaf.model.readers.objects.inline_disks import ATTACHED_DISKS, kind_beyond_drivers
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Manifest, entries_of, part_of
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.storage_kinds import (
    CLAIM,
    CSI_DRIVER,
    STORAGE_CLASS,
    VOLUME,
)
from fourleaf.model.readers.pods.node_constraints import both, narrowed
from fourleaf.model.readers.pods.node_terms import Terms, node_selector_terms
from fourleaf.model.readers.pods.storage_capacity import StorageCapacities
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources

Body = Mapping[str, object]

NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of a StorageClass whose volumes people make."""

ONE_POD = "ReadWriteOncePod"

GIB = 2**30

TERMS_LIMIT = 100
"""Terms of a node affinity that the volumes of a pod may come to: they multiply."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""Annotation of a claim: the node that its volume is made for."""
SELECTED_BY_US = "topology.scheduler/selected-node"
"""The node that was selected for a gang of ours, which may go back and select another."""
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
"""Annotation that names the StorageClass of a claim, and comes before the field."""

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_ZONE_LABELS = {
    _ZONE: _ZONE,
    _REGION: _REGION,
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
}
"""Labels of volumes and nodes, and what stands for them on nodes without the old ones."""
_OLD_ZONE, _OLD_REGION = (old for old, new in _ZONE_LABELS.items() if old != new)
_DRIVER_ZONES = {
    "awsElasticBlockStore": "topology.ebs.csi.aws.com/zone",
    "cinder": "topology.cinder.csi.openstack.org/zone",
    "gcePersistentDisk": "topology.gke.io/zone",
}
"""Sources of older volumes, and the label that nodes have of the driver that has taken each over:
as kube-scheduler translates them for nodes whose kubelet says so, which all that it supports do."""
_SEVERAL_ZONES = "__"
"""Stands between the zones of a volume that is in several."""


@dataclass(frozen=True, slots=True)
class VolumeWants:
    """What the claims of a pod come to: one of `terms` has to hold, `hold` keeps it back.

    `exclusive` are claims that no second pod may use meanwhile.
    """

    terms: Terms = ()
    hold: Hold | None = None
    exclusive: tuple[str, ...] = ()

    def on(self, constraint: NodeConstraint) -> NodeConstraint:
        """`constraint` on the nodes of all volumes alone."""
        return both(constraint, self.terms) if self.terms else constraint


NO_VOLUMES = VolumeWants()


def claims_of(name: str, spec: Body) -> Iterator[tuple[str, str]]:
    """Field and name of each PersistentVolumeClaim that the pod `name` of that `spec` uses."""
    volumes = spec.get("volumes")
    for number, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        if not isinstance(volume, Mapping):
            continue
        claim = volume.get("persistentVolumeClaim")
        if isinstance(claim, Mapping):
            field = f"spec.volumes[{number}].persistentVolumeClaim.claimName"
            yield field, str(claim.get("claimName") or "")
        elif volume.get("ephemeral") is not None:
            yield f"spec.volumes[{number}].ephemeral", f"{name}-{volume.get('name')}"


def disks_of(spec: Body) -> Iterator[tuple[str, Body]]:
    """Source and volume of each disk that a pod of that `spec` itself has attached to its node."""
    volumes = spec.get("volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        if isinstance(volume, dict) and not ATTACHED_DISKS.keys().isdisjoint(volume):
            yield from ((source, volume) for source in ATTACHED_DISKS if source in volume)


def volume_of(claim: Body) -> str:
    """The name of the volume that a PersistentVolumeClaim is for, "" where it has none."""
    name = part_of(claim, "spec").get("volumeName")
    return name if isinstance(name, str) else ""


def class_of(claim: Body) -> str:
    """The name of the StorageClass of a PersistentVolumeClaim, "" where it has none."""
    name = _annotations_of(claim).get(_OLD_CLASS)
    if name is None:
        name = part_of(claim, "spec").get("storageClassName")
    return name if isinstance(name, str) else ""


def selected_by_others(claim: Body) -> str:
    """The node that another scheduler has selected for a claim, "" where none has."""
    annotations = _annotations_of(claim)
    node = annotations.get(SELECTED_NODE)
    return node if isinstance(node, str) and node != annotations.get(SELECTED_BY_US) else ""


def _annotations_of(claim: Body) -> Body:
    return part_of(claim, "metadata", "annotations")


def _phase_of(claim: Body) -> object:
    return part_of(claim, "status").get("phase", "Bound")


def is_claim_bound(claim: Body) -> bool:
    """Whether a PersistentVolumeClaim has its volume."""
    return bool(volume_of(claim)) and _phase_of(claim) == "Bound"


def is_made_on_first_use(storage_class: Body | None) -> bool:
    """Whether volumes of a StorageClass are made once a node is selected for their claim."""
    return (
        storage_class is not None
        and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        and storage_class.get("provisioner") != NO_PROVISIONER
    )


@dataclass(frozen=True, slots=True)
class Storage:
    """The objects that claims are read against, and the room that drivers say there is.

    Unless `objects` are the `whole` cluster, a claim that is not among them is warned of.
    """

    objects: Objects
    capacities: StorageCapacities
    whole: bool


def volume_wants(pod: Manifest, name: str, storage: Storage, own_terms: int) -> VolumeWants:
    """What the claims of the pod `name` come to, whose own node affinity has `own_terms`."""
    terms: Terms = ()
    exclusive: list[str] = []
    spec = part_of(pod.body, "spec")
    for _, disk in disks_of(spec):
        if kind := kind_beyond_drivers(disk):
            return _beyond_drivers(f"{pod.title}: volume {disk.get('name')}", kind)
    for field, called in claims_of(name, spec):
        found = _claim_wants(pod, field, called, storage)
        if found.hold is not None:
            return found
        exclusive += found.exclusive
        if found.terms and (own_terms or 1) * (len(terms) or 1) * len(found.terms) > TERMS_LIMIT:
            what = f"{pod.title}: its volumes and it come to over {TERMS_LIMIT} terms of affinity"
            return _refused(what, "Use fewer terms or volumes.")
        if found.terms:
            terms = both(NodeConstraint(affinity=terms), found.terms).affinity
    return VolumeWants(terms, exclusive=tuple(exclusive)) if terms or exclusive else NO_VOLUMES


def _claim_wants(pod: Manifest, field: str, called: str, storage: Storage) -> VolumeWants:
    objects, whole = storage.objects, storage.whole
    title = f"PersistentVolumeClaim {pod.namespace}/{called}"
    claim = objects.get(*CLAIM, pod.namespace, called)
    if claim is None:
        if whole:
            return _waits(f"{title} does not exist", "Create it, or correct the name.")
        advice = "Give the claim and its volume too, or make sure that every node can mount it."
        pod.warn(field, called, "is not in the input, and may tie the pod to some nodes", advice)
        return NO_VOLUMES
    metadata = part_of(claim.body, "metadata")
    if metadata.get("deletionTimestamp") is not None:
        return _waits(f"{title} is being deleted", "Give the pod another claim.")
    if field.endswith("ephemeral") and not _is_made_for(metadata, pod):
        return _waits(f"{title} was not made for the pod", "Delete it, or rename the volume.")
    modes = part_of(claim.body, "spec").get("accessModes")
    alone = (called,) if isinstance(modes, list) and ONE_POD in modes else ()
    if not is_claim_bound(claim.body):
        return replace(_unbound(title, claim, storage), exclusive=alone)
    volume = objects.get(*VOLUME, "", volume_of(claim.body))
    if volume is None and whole:
        what = f"PersistentVolume {volume_of(claim.body)} of {title} does not exist"
        return _waits(what, "Restore it.")
    if volume is not None and (kind := kind_beyond_drivers(part_of(volume.body, "spec"))):
        return _beyond_drivers(f"PersistentVolume {volume.name} of {title}", kind)
    terms = () if volume is None else _volume_terms(volume.on(Report()))
    return VolumeWants(terms, exclusive=alone)


def _is_made_for(claim: Body, pod: Manifest) -> bool:
    """Whether the claim of an ephemeral volume is the pod's own, and not one of that name."""
    uid = part_of(pod.body, "metadata").get("uid")
    return not uid or any(
        one.get("uid") == uid and one.get("controller") is True
        for one in entries_of(claim, "ownerReferences")
    )


def _unbound(title: str, claim: Manifest, storage: Storage) -> VolumeWants:
    if _phase_of(claim.body) == "Lost":
        what = f"PersistentVolume {volume_of(claim.body)} of {title} is lost"
        return _waits(what, "Give the pod another claim, or make this one anew.")
    if volume_of(claim.body):
        what = f"{title} is not bound yet to PersistentVolume {volume_of(claim.body)}"
        return _waits(what, "Its events say why: kubectl describe pvc.")
    class_name = class_of(claim.body)
    found = storage.objects.get(*STORAGE_CLASS, "", class_name) if class_name else None
    if found is None or found.body.get("volumeBindingMode") != "WaitForFirstConsumer":
        return _waits(f"{title} is not bound yet", "Its events say why: kubectl describe pvc.")
    if is_made_on_first_use(found.body):
        allowed = _allowed_terms(found.on(Report()), selected_by_others(claim.body))
        size = _size_of(claim.on(Report()))
        if size is None or not _reports_capacity(found.body, storage.objects):
            return VolumeWants(allowed)
        room = storage.capacities.terms(class_name, size)
        if room is None:
            what = f"{title}: no CSIStorageCapacity of StorageClass {class_name} has room for "
            advice = "Free storage, or ask for less; the driver says how much there is where."
            return _waits(f"{what}{_in_words(size)}", advice)
        return VolumeWants(
            both(NodeConstraint(affinity=allowed), room).affinity if room else allowed
        )
    what = f"{title}: {class_name} binds volumes that exist already on first use, which"
    return _refused(f"{what} cannot be honoured", f"Bind {title} to a volume first.")


def _size_of(claim: Manifest) -> int | None:
    """The bytes that a claim asks for, None where it does not say."""
    requests = part_of(claim.body, "spec", "resources", "requests")
    if requests.get("storage") is None:
        return None
    return claim.amount(in_bytes, requests["storage"], "spec.resources.requests[storage]")


def _in_words(size: int) -> str:
    return f"{size // GIB}Gi" if size % GIB == 0 else f"{size:,} bytes"


def _reports_capacity(storage_class: Body, objects: Objects) -> bool:
    """Whether the driver of a StorageClass says how much room there is, and wants it heeded."""
    driver = objects.get(*CSI_DRIVER, "", str(storage_class.get("provisioner")))
    return driver is not None and part_of(driver.body, "spec").get("storageCapacity") is True


def _allowed_terms(storage: Manifest, node: str) -> Terms:
    """The nodes that a StorageClass makes volumes for; `node` alone where one is selected."""
    terms = []
    listed = storage.mappings(storage.body.get("allowedTopologies"), "allowedTopologies")
    for path, topology in listed:
        labels = storage.mappings(topology.get("matchLabelExpressions"), path)
        terms.append(
            tuple(
                Requirement(str(one.get("key")), Operator.IN, _texts(one.get("values")))
                for _, one in labels
            )
        )
    if node:
        there = Requirement(NODE_NAME_FIELD, Operator.IN, (node,), True)
        return narrowed(NodeConstraint(affinity=tuple(terms)), there).affinity
    return tuple(terms)


def _texts(values: object) -> tuple[str, ...]:
    return tuple(str(one) for one in values) if isinstance(values, list) else ()


def _refused(what: str, advice: str) -> VolumeWants:
    return VolumeWants(hold=Hold(ReasonKind.UNSUPPORTED, what, (), (advice,)))


def _beyond_drivers(what: str, kind: str) -> VolumeWants:
    """A disk that its own driver refuses; kube-scheduler places no pod with it either."""
    advice = "Turn it into a managed disk, and give the pod that."
    return _refused(f"{what} has azureDisk.kind {kind}, which no CSI driver attaches", advice)


def _waits(what: str, advice: str) -> VolumeWants:
    return VolumeWants(hold=Hold(ReasonKind.GATED, what, (), (advice,)))


def is_reached(volume: dict[str, Any], node: dict[str, Any]) -> bool:
    """Whether a Node reaches a PersistentVolume, by the labels of the two and its affinity."""
    there = Manifest(Report(), "", "", "Node", "", _name_of(node), node)
    labels = there.strings(part_of(node, "metadata").get("labels"), "metadata.labels")
    terms = _volume_terms(Manifest(Report(), "", *VOLUME, "", _name_of(volume), volume))
    host = Node(there.name, "", "", Resources(), labels=labels)
    return NodeConstraint(affinity=terms).selects(host)


def _name_of(body: Body) -> str:
    return str(part_of(body, "metadata").get("name"))


def _volume_terms(volume: Manifest) -> Terms:
    """The nodes from which a volume can be reached."""
    spec = volume.mapping(volume.body.get("spec"), "spec")
    affinity = volume.mapping(spec.get("nodeAffinity"), "spec.nodeAffinity")
    field = "spec.nodeAffinity.required"
    terms = node_selector_terms(volume, volume.mapping(affinity.get("required"), field), field)
    metadata = volume.mapping(volume.body.get("metadata"), "metadata")
    labels = volume.strings(metadata.get("labels"), "metadata.labels")
    driver = next((key for source, key in _DRIVER_ZONES.items() if spec.get(source)), "")
    if driver:
        terms = _as_of_driver(driver, terms, labels)
    zones = [
        _zone_terms(key, values)
        for key in _ZONE_LABELS
        if (values := _zones_in(labels.get(key, "")))
    ]
    if not zones:
        return terms
    # A node that says nothing of zones is in every one, as in clusters of one zone.
    nowhere = tuple(Requirement(key, Operator.DOES_NOT_EXIST) for key in _ZONE_LABELS)
    there = (*(tuple(chain(*one)) for one in product(*zones)), nowhere)
    return both(NodeConstraint(affinity=terms), there).affinity


def _as_of_driver(driver: str, terms: Terms, labels: Mapping[str, str]) -> Terms:
    """The terms of an older volume by the label of its driver: the zone stands there, or is added.

    Which label says the zone is looked for in the terms first, then among the volume's own.
    """
    asked = [one for term in terms for one in term if not one.is_field]
    places: tuple[Collection[str], ...] = ({one.key for one in asked}, labels)
    both_zones = product(places, (_ZONE, _OLD_ZONE))
    zone = next((key for there, key in both_zones if key in there), _ZONE)
    new = {_OLD_REGION: _REGION} if zone == _OLD_ZONE else {}
    added: tuple[Requirement, ...] = ()
    if any(one.key == zone and one.values for one in asked):
        new[zone] = driver
    elif values := _zones_in(labels.get(zone, "")):
        added = (Requirement(driver, Operator.IN, values),)
    return tuple(
        (*(replace(one, key=new.get(one.key, one.key)) for one in term), *added)
        for term in terms or (((),) if added else ())
    )


def _zones_in(label: str) -> tuple[str, ...]:
    """The zones of a volume by its label, none where that is no list of them."""
    zones = tuple(label.split(_SEVERAL_ZONES))
    return zones if all(zones) else ()


def _zone_terms(key: str, values: tuple[str, ...]) -> Terms:
    """Nodes in the zones, or the regions, that a label of a volume says."""
    told = (Requirement(key, Operator.IN, values),)
    new = _ZONE_LABELS[key]
    if new == key:
        return (told,)
    untold = Requirement(key, Operator.DOES_NOT_EXIST)
    return told, (untold, Requirement(new, Operator.IN, values))
