"""Rows about volumes: where they are, who uses them, and whether they are there."""

from __future__ import annotations

from typing import Any

from fourleaf.model.readers.pods.volumes import SELECTED_NODE
from tests.filters.kube_filters import Body
from tests.filters.tables.table import ALL, HOST, Row, Standing, asks

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def claim(
    name: str = "c", volume: str = "v", kind: str = "now", phase: str = "", **metadata: Any
) -> Body:
    """A claim, bound where a volume is named and no other phase is."""
    about = {"name": name, "namespace": "ml", "uid": f"claim-{name}", **metadata}
    spec: Body = {
        "accessModes": [about.pop("mode", "ReadWriteOnce")],
        "storageClassName": kind,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    if volume:
        about |= {"annotations": BOUND} if phase != "Pending" else {}
        spec["volumeName"] = volume
    status = {"phase": phase or ("Bound" if volume else "Pending")}
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return head | {"metadata": about, "spec": spec, "status": status}


def volume(term: Body | None = None, zone: str = "", label: str = ZONE) -> Body:
    """The volume of the claim, on nodes that a term asks for, or with the label of a zone."""
    labels = {label: zone} if zone else {}
    spec: Body = {
        "capacity": {"storage": "1Gi"},
        "claimRef": {"namespace": "ml", "name": "c", "uid": "claim-c"},
        "csi": {"driver": "csi.example.com", "volumeHandle": "v"},
    }
    if term:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    head = {"apiVersion": "v1", "kind": "PersistentVolume"}
    about = {"name": "v", "uid": "volume-v", "labels": labels}
    return head | {"metadata": about, "spec": spec, "status": {"phase": "Bound"}}


def free(kind: str, term: Body | None = None) -> Body:
    """A volume of a class that no claim has yet."""
    body = volume(term)
    del body["spec"]["claimRef"]
    body["spec"] |= {"storageClassName": kind, "accessModes": ["ReadWriteOnce"]}
    return body | {"status": {"phase": "Available"}}


def storage(
    name: str, mode: str, provisioner: str = "csi.example.com", zones: tuple[str, ...] = ()
) -> Body:
    """A StorageClass, of volumes in some zones alone where these are named."""
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    body: Body = {"metadata": {"name": name, "uid": f"class-{name}"}, "provisioner": provisioner}
    if zones:
        expressions = [{"key": "zone", "values": list(zones)}]
        body["allowedTopologies"] = [{"matchLabelExpressions": expressions}]
    return head | body | {"volumeBindingMode": mode}


NOW = storage("now", "Immediate")
LATER = storage("later", "WaitForFirstConsumer")
USES: Body = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}
USES_TWO: Body = {
    "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("c", "d")]
}
USES_SECOND: Body = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}
_FIRST_USE = (LATER, claim(volume="", kind="later"))
_HEEDED: Body = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "csi.example.com", "uid": "driver"},
    "spec": {"storageCapacity": True},
}
_POD = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "Pod-p"}
_ZONED = {
    name: {"labels": {ZONE: zone}}
    for name, zone in {"n0": "z0", "n1": "z0", "n2": "z1", "n3": "z1"}.items()
}

_DISKS: dict[str, Body] = {
    "gcePersistentDisk": {"pdName": "d"},
    "awsElasticBlockStore": {"volumeID": "vol-1"},
    "rbd": {"monitors": ["m"], "pool": "p", "image": "i"},
    "iscsi": {"targetPortal": "p", "iqn": "iqn.2026-01.a:b", "lun": 0},
}


_DRIVER_ZONES = {
    "awsElasticBlockStore": "topology.ebs.csi.aws.com/zone",
    "cinder": "topology.cinder.csi.openstack.org/zone",
    "gcePersistentDisk": "topology.gke.io/zone",
}
"""Sources of older volumes, and the label of the driver that has taken each over."""
_IN_TREE = {
    "awsElasticBlockStore": "kubernetes.io/aws-ebs",
    "azureDisk": "kubernetes.io/azure-disk",
    "cinder": "kubernetes.io/cinder",
    "gcePersistentDisk": "kubernetes.io/gce-pd",
}


_AZURE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"
_MANAGED = {"diskName": "d", "diskURI": _AZURE, "kind": "Managed"}
_UNMANAGED = {
    "diskName": "d",
    "diskURI": "https://a.blob.core.windows.net/c/d.vhd",
    "kind": "Shared",
}
_ATTACHED: tuple[tuple[str, str, Body], ...] = (
    ("awsElasticBlockStore", "ebs.csi.aws.com", {"volumeID": "vol-1"}),
    ("azureDisk", "disk.csi.azure.com", _MANAGED),
    ("cinder", "cinder.csi.openstack.org", {"volumeID": "d"}),
    ("gcePersistentDisk", "pd.csi.storage.gke.io", {"pdName": "d"}),
    ("portworxVolume", "pxd.portworx.com", {"volumeID": "d"}),
)


def attaching(node: str, driver: str, count: int) -> Body:
    """How many volumes of a driver a node attaches."""
    drivers = [{"name": driver, "nodeID": node, "allocatable": {"count": count}}]
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}}
    return head | {"spec": {"drivers": drivers}}


def _migrated(source: str) -> tuple[Body, ...]:
    """What kubelets say: drivers attach the volumes of the source."""
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": {"drivers": []}}
    said = {"storage.alpha.kubernetes.io/migrated-plugins": _IN_TREE[source]}
    return tuple(
        head | {"metadata": {"name": name, "uid": f"limits-{name}", "annotations": said}}
        for name in _ZONED
    )


def _older(source: str, *terms: Body, **labels: str) -> tuple[Body, ...]:
    """A class, the claim and its volume of an older source: with terms, and labels of it."""
    body = volume()
    del body["spec"]["csi"]
    body["spec"][source] = next(said for name, _, said in _ATTACHED if name == source)
    body["metadata"]["labels"] = labels
    if terms:
        body["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": list(terms)}}
    return (NOW, claim(), body, *_migrated(source))


def _older_disk(said: Body) -> tuple[Body, ...]:
    """The same of a disk of Azure that is none of `_ATTACHED`."""
    kind, one, body, *kubelets = _older("azureDisk")
    return (kind, one, {**body, "spec": {**body["spec"], "azureDisk": said}}, *kubelets)


def _drivers(key: str, **zones: str) -> dict[str, Body]:
    """The nodes in their zones, as drivers say on those that are named."""
    return {
        name: {"labels": {**change["labels"], **({key: zones[name]} if name in zones else {})}}
        for name, change in _ZONED.items()
    }


def _room(name: str, size: str, topology: Body, **more: str) -> Body:
    """What a driver says of its room for volumes of the class that are made on first use."""
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity"}
    about = {"name": name, "namespace": "ops", "uid": f"room-{name}"}
    said = {"storageClassName": "later", "capacity": size, "nodeTopology": topology, **more}
    return head | {"metadata": about, **said}


def _zone(name: str) -> Body:
    """The nodes of a zone."""
    return {"matchLabels": {"zone": name}}


def _second(**changes: Any) -> tuple[Body, Body]:
    """A second claim, and the volume to which it is bound."""
    body = volume(**changes)
    body["metadata"] |= {"name": "w", "uid": "volume-w"}
    body["spec"]["claimRef"] |= {"name": "d", "uid": "claim-d"}
    body["spec"]["csi"] |= {"volumeHandle": "w"}
    return claim("d", "w"), body


def _attached(node: str, volume: str) -> Body:
    """A volume that is attached to a node, whether a pod uses it or not."""
    head = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment"}
    source = {"persistentVolumeName": volume}
    said = {"attacher": "csi.example.com", "nodeName": node, "source": source}
    return head | {"metadata": {"name": f"{volume}-{node}", "uid": f"on-{node}"}, "spec": said}


def _inline(source: str, **more: Any) -> Body:
    """A disk that the pod itself names."""
    return {"volumes": [{"name": "d", source: _DISKS[source] | more}]}


def _disk(reads: bool = False, **more: Any) -> Body:
    """One that several may read."""
    return _inline("iscsi", readOnly=reads, **more)


VOLUMES = (
    Row("a volume that any node reaches", ALL, USES, others=(NOW, claim(), volume())),
    Row("a local volume", "n2", USES, others=(NOW, claim(), volume(asks(HOST, "In", "n2")))),
    Row(
        "a volume of a zone by affinity",
        "n0 n1",
        USES,
        others=(NOW, claim(), volume(asks("zone", "In", "z0"))),
    ),
    Row(
        "a volume of a zone by label",
        "n2 n3",
        USES,
        nodes=_ZONED,
        others=(NOW, claim(), volume(zone="z1")),
    ),
    Row(
        "a volume of two zones by label",
        ALL,
        USES,
        nodes=_ZONED,
        others=(NOW, claim(), volume(zone="z0__z1")),
    ),
    Row(
        "a volume's affinity and a selector",
        "",
        {**USES, "nodeSelector": {"zone": "z1"}},
        others=(NOW, claim(), volume(asks("zone", "In", "z0"))),
    ),
    Row(
        "a volume of a zone by the label of old",
        "n2 n3",
        USES,
        nodes=_ZONED,
        others=(NOW, claim(), volume(zone="z1", label=OLD_ZONE)),
    ),
    Row(
        "the same, where a node says otherwise in that label",
        "n2",
        USES,
        nodes=_ZONED | {"n3": {"labels": {ZONE: "z1", OLD_ZONE: "z0"}}},
        others=(NOW, claim(), volume(zone="z1", label=OLD_ZONE)),
    ),
    Row(
        "a volume of two zones by label of which one has no name",
        ALL,
        USES,
        nodes=_ZONED,
        others=(NOW, claim(), volume(zone="z1__")),
    ),
    *(
        Row(
            f"an older volume of a zone by affinity: {source}, {key}",
            "n0 n2",
            USES,
            nodes=_drivers(label, n0="z0", n2="z0", n3="z1"),
            others=_older(source, asks(key, "In", "z0")),
        )
        for source, label in _DRIVER_ZONES.items()
        for key in (ZONE, OLD_ZONE)
    ),
    *(
        Row(
            f"an older volume of a zone by the label {key}: {source}",
            "n0",
            USES,
            nodes=_drivers(label, n0="z0", n2="z0", n3="z1"),
            others=_older(source, **{key: "z0"}),
        )
        for source, label in _DRIVER_ZONES.items()
        for key in (ZONE, OLD_ZONE)
    ),
    Row(
        "an older volume of a zone, and of a node",
        "n0",
        USES,
        nodes=_drivers("topology.gke.io/zone", n0="z0", n1="z0"),
        others=_older("gcePersistentDisk", asks(HOST, "In", "n0", "n3"), **{ZONE: "z0"}),
    ),
    Row(
        "an older volume of a zone and a region of old",
        "n0",
        USES,
        nodes=_drivers("topology.gke.io/zone", n0="z0", n1="z0")
        | {
            "n0": {"labels": {"topology.gke.io/zone": "z0", "topology.kubernetes.io/region": "r"}},
        },
        others=_older(
            "gcePersistentDisk",
            {
                "matchExpressions": [
                    {"key": OLD_ZONE, "operator": "In", "values": ["z0"]},
                    {
                        "key": "failure-domain.beta.kubernetes.io/region",
                        "operator": "In",
                        "values": ["r"],
                    },
                ]
            },
        ),
    ),
    Row(
        "an older volume whose driver keeps the label of the zone",
        "n0 n1",
        USES,
        nodes=_ZONED,
        others=_older("azureDisk", asks(ZONE, "In", "z0")),
    ),
    Row(
        "an older volume that no driver attaches",
        "",
        USES,
        others=_older_disk(_UNMANAGED),
        refused="azureDisk.kind",
    ),
    Row(
        "a disk of the pod itself that no driver attaches",
        "",
        {"volumes": [{"name": "d", "azureDisk": _UNMANAGED}]},
        others=tuple(attaching(name, "disk.csi.azure.com", 1) for name in _ZONED),
        refused="azureDisk.kind",
    ),
    Row(
        "a claim that has lost its volume",
        "",
        USES,
        others=(LATER, claim(kind="later", phase="Lost")),
        gated="lost",
    ),
    Row(
        "a claim that names a volume to which it is not bound yet",
        "",
        USES,
        others=(LATER, claim(kind="later", phase="Pending"), volume()),
        gated="not bound yet to PersistentVolume v",
    ),
    Row("a claim that is not there", "", USES, gated="claim"),
    Row("a claim that is not bound yet", "", USES, others=(NOW, claim(volume="")), gated="claim"),
    Row(
        "a claim that is being deleted",
        "",
        USES,
        gated="claim",
        others=(NOW, claim(deletionTimestamp="2026-01-01T00:00:00Z"), volume()),
    ),
    Row(
        "a volume that is made on first use",
        ALL,
        USES,
        others=(LATER, claim(volume="", kind="later")),
    ),
    Row(
        "the same, in one zone alone",
        "n2 n3",
        USES,
        others=(
            storage("later", "WaitForFirstConsumer", zones=("z1",)),
            claim(volume="", kind="later"),
        ),
    ),
    Row(
        "a volume that is there already, beyond the zone in which more are made",
        ALL,
        USES,
        others=(
            storage("later", "WaitForFirstConsumer", zones=("z1",)),
            claim(volume="", kind="later"),
            free("later"),
        ),
        unused="n0 n1",
    ),
    Row(
        "an ephemeral volume whose claim the pod does not control",
        "",
        {"volumes": [{"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
        others=(NOW, claim("p-e", ownerReferences=[_POD]), volume()),
        gated="not made for the pod",
    ),
    Row(
        "the same, for a node that is selected",
        "n2",
        USES,
        others=(
            LATER,
            claim(volume="", kind="later", annotations={SELECTED_NODE: "n2"}),
        ),
    ),
    Row(
        "a volume that is made on first use by the class of an annotation",
        ALL,
        USES,
        others=(NOW, LATER, claim(volume="", annotations={OLD_CLASS: "later"})),
    ),
    Row(
        "a volume that is made at once by the class of an annotation",
        "",
        USES,
        others=(NOW, LATER, claim(volume="", kind="later", annotations={OLD_CLASS: "now"})),
        gated="not bound yet",
    ),
    Row(
        "a volume for one pod, in use",
        "",
        USES,
        (Standing("n0", spec=USES),),
        gated="claim",
        others=(NOW, claim(mode="ReadWriteOncePod"), volume()),
    ),
    Row(
        "a volume for one pod, not in use",
        ALL,
        USES,
        others=(NOW, claim(mode="ReadWriteOncePod"), volume()),
    ),
    Row(
        "a volume for one node, in use",
        ALL,
        USES,
        (Standing("n0", spec=USES),),
        others=(NOW, claim(), volume()),
    ),
    Row("a disk that another pod writes to", "n1 n2 n3", _disk(), (Standing("n0", spec=_disk()),)),
    Row(
        "a disk that another pod reads, to write to it",
        "n1 n2 n3",
        _disk(),
        (Standing("n0", spec=_disk(reads=True)), Standing("n0", spec=_disk(reads=True))),
    ),
    Row(
        "a disk that other pods read, to read it",
        ALL,
        _disk(reads=True),
        (Standing("n0", spec=_disk(reads=True)), Standing("n0", spec=_disk(reads=True))),
    ),
    Row("another disk", ALL, _disk(), (Standing("n0", spec=_disk(iqn="iqn.2026-01.a:c")),)),
    *(
        Row(
            f"a disk: {source}",
            "n1 n2 n3",
            _inline(source),
            (Standing("n0", spec=_inline(source)),),
        )
        for source in _DISKS
    ),
    *(
        Row(
            f"a disk of the pod itself that is attached: {source}",
            "n1 n2 n3",
            {"volumes": [{"name": "d", source: said}]},
            others=(attaching("n0", driver, 0), attaching("n1", driver, 1)),
        )
        for source, driver, said in _ATTACHED
    ),
    Row(
        "disks of pods themselves that are attached",
        "n1 n2 n3",
        _inline("gcePersistentDisk", pdName="e"),
        (Standing("n0", spec=_inline("gcePersistentDisk")),),
        others=(attaching("n0", "pd.csi.storage.gke.io", 1),),
    ),
    Row(
        "a disk that no node shares, to read it",
        "n1 n2 n3",
        _inline("awsElasticBlockStore", readOnly=True),
        (Standing("n0", spec=_inline("awsElasticBlockStore", readOnly=True)),),
    ),
    Row(
        "a volume of a node that is gone and of one that is there",
        "n2",
        USES,
        others=(NOW, claim(), volume(asks(HOST, "In", "n2", "n9"))),
    ),
    Row(
        "a volume of a node that is gone",
        "",
        USES,
        others=(NOW, claim(), volume(asks(HOST, "In", "n9"))),
    ),
    Row("a claim whose volume is gone", "", USES, others=(NOW, claim()), gated="claim"),
    Row(
        "a claim of a class that is not there",
        "",
        USES,
        others=(claim(volume="", kind="none"),),
        gated="claim",
    ),
    Row(
        "two volumes, of a zone and of a node in it",
        "n2",
        USES_TWO,
        others=(
            NOW,
            claim(),
            volume(asks("zone", "In", "z1")),
            *_second(term=asks(HOST, "In", "n1", "n2")),
        ),
    ),
    Row(
        "two volumes that no node reaches both",
        "",
        USES_TWO,
        others=(
            NOW,
            claim(),
            volume(asks("zone", "In", "z1")),
            *_second(term=asks(HOST, "In", "n1")),
        ),
    ),
    Row(
        "a volume that is there and one that is made on first use",
        "n2",
        USES_TWO,
        others=(*_FIRST_USE, NOW, *_second(term=asks(HOST, "In", "n2"))),
    ),
    Row(
        "a volume that is not there and one that is made on first use",
        "",
        USES_TWO,
        others=(*_FIRST_USE, NOW, claim("d", "")),
        gated="claim",
    ),
    Row(
        "a volume that is made on first use, and a selector",
        "n3",
        {**USES, "nodeSelector": {HOST: "n3"}},
        others=(
            storage("later", "WaitForFirstConsumer", zones=("z0", "z1")),
            claim(volume="", kind="later"),
        ),
    ),
    Row(
        "volumes that people make, on first use",
        "n2",
        USES,
        others=(
            storage("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
            claim(volume="", kind="local"),
            free("local", asks(HOST, "In", "n2")),
        ),
        refused="volumes that exist already",
    ),
    Row(
        "room for a volume in one zone",
        "n2 n3",
        USES,
        others=(
            *_FIRST_USE,
            _HEEDED,
            _room("small", "512Mi", _zone("z0")),
            _room("large", "2Gi", _zone("z1")),
        ),
    ),
    Row(
        "room for a volume on one node, of which the rest is not said",
        "n1",
        USES,
        others=(*_FIRST_USE, _HEEDED, _room("one", "1Gi", {"matchLabels": {HOST: "n1"}})),
    ),
    Row("room for a volume nowhere", "", USES, others=(*_FIRST_USE, _HEEDED)),
    Row(
        "room for many volumes, but none as large",
        "n2 n3",
        USES,
        others=(
            *_FIRST_USE,
            _HEEDED,
            _room("many", "9Gi", _zone("z0"), maximumVolumeSize="512Mi"),
            _room("large", "9Gi", _zone("z1"), maximumVolumeSize="1Gi"),
        ),
    ),
    Row(
        "as many volumes of a claim as a node attaches",
        "n1 n2 n3",
        USES,
        others=(
            NOW,
            claim(),
            volume(),
            attaching("n0", "csi.example.com", 0),
            attaching("n1", "csi.example.com", 1),
        ),
    ),
    Row(
        "volumes of claims of other pods, as many as a node attaches",
        "n1 n2 n3",
        USES,
        (Standing("n0", spec=USES_SECOND), Standing("n1", spec=USES_SECOND)),
        others=(NOW, claim(), volume(), *_second(), attaching("n0", "csi.example.com", 1)),
    ),
    Row(
        "a volume of a claim that another pod has attached",
        ALL,
        USES,
        (Standing("n0", spec=USES),),
        others=(NOW, claim(), volume(), attaching("n0", "csi.example.com", 1)),
        unused="n0",
    ),
    Row(
        "a volume that is attached and that no pod uses",
        "n1 n2 n3",
        USES,
        others=(
            NOW,
            claim(),
            volume(),
            *_second(),
            _attached("n0", "w"),
            attaching("n0", "csi.example.com", 1),
        ),
    ),
    Row(
        "volumes of two drivers, of which a node attaches one more of each",
        ALL,
        USES,
        (Standing("n0", spec=_inline("gcePersistentDisk")),),
        others=(
            NOW,
            claim(),
            volume(),
            {
                **attaching("n0", "csi.example.com", 1),
                "spec": {
                    "drivers": [
                        {"name": name, "nodeID": "n0", "allocatable": {"count": 1}}
                        for name in ("csi.example.com", "pd.csi.storage.gke.io")
                    ]
                },
            },
        ),
    ),
    Row(
        "two volumes that are made on first use in the same zones",
        "n0 n1",
        USES_TWO,
        others=(
            storage("later", "WaitForFirstConsumer", zones=("z0",)),
            storage("both", "WaitForFirstConsumer", zones=("z0", "z1")),
            claim(volume="", kind="later"),
            claim("d", "", "both"),
        ),
    ),
    Row(
        "two volumes that are made on first use in no common zone",
        "",
        USES_TWO,
        others=(
            storage("later", "WaitForFirstConsumer", zones=("z0",)),
            storage("both", "WaitForFirstConsumer", zones=("z1",)),
            claim(volume="", kind="later"),
            claim("d", "", "both"),
        ),
    ),
    Row(
        "two volumes where there is room for one, which is compared with each",
        "n0 n1",
        USES_TWO,
        others=(
            *_FIRST_USE,
            claim("d", "", "later"),
            _HEEDED,
            _room("one", "1Gi", _zone("z0")),
        ),
    ),
    Row(
        "a node that is selected for a claim, and a selector of another",
        "",
        {**USES, "nodeSelector": {HOST: "n1"}},
        others=(LATER, claim(volume="", kind="later", annotations={SELECTED_NODE: "n2"})),
    ),
    Row(
        "a volume of a zone by label, and of a node by affinity",
        "n3",
        USES,
        nodes=_ZONED,
        others=(NOW, claim(), volume(asks(HOST, "In", "n0", "n3"), zone="z1")),
    ),
    Row(
        "a volume of a zone by label, where one node says nothing of zones",
        "n0 n2 n3",
        USES,
        nodes={**_ZONED, "n0": {}},
        others=(NOW, claim(), volume(zone="z1")),
    ),
    Row(
        "a disk of another pool",
        ALL,
        _inline("rbd"),
        (Standing("n0", spec=_inline("rbd", pool="q")),),
    ),
    Row(
        "a disk that another pod reads, to read it, of a source of old",
        ALL,
        _inline("gcePersistentDisk", readOnly=True),
        (Standing("n0", spec=_inline("gcePersistentDisk", readOnly=True)),),
    ),
    Row(
        "a disk of a pod that is over",
        ALL,
        _disk(),
        (Standing("n0", spec=_disk(), status={"phase": "Succeeded"}),),
    ),
    Row(
        "a volume for one pod, which is over",
        ALL,
        USES,
        (Standing("n0", spec=USES, status={"phase": "Failed"}),),
        others=(NOW, claim(mode="ReadWriteOncePod"), volume()),
    ),
)
