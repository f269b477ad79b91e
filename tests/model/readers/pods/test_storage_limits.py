"""Room for volumes that are still to be made, and volumes that a node can attach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import fits
from tests.model.readers.made import Body, pod
from tests.model.readers.pods.test_volumes import (
    NODES,
    ZONE,
    allowed,
    claim,
    hold_of,
    storage_class,
    using,
    volume,
    whole,
)

DRIVER = "disk.example.org"
"""The provisioner of the class that claims here name."""
API = "storage.k8s.io/v1"
AMOUNT = f"attachable-volumes-csi-{DRIVER}"


def driver(reports: bool = True) -> Body:
    """The CSIDriver."""
    spec = {"storageCapacity": reports}
    return {"apiVersion": API, "kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": spec}


def room(zone: str, capacity: str) -> Body:
    """What the driver says of one zone."""
    return {
        "apiVersion": API,
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"room-{zone}", "namespace": "kube-system"},
        "storageClassName": "fast",
        "capacity": capacity,
        "nodeTopology": {"matchLabels": {ZONE: zone}},
    }


def waiting_claim(size: str) -> Body:
    """A claim whose volume is made on first use."""
    resources = {"requests": {"storage": size}}
    return claim(volume="", phase="Pending", resources=resources)


FIRST_USE = storage_class("WaitForFirstConsumer")


def test_a_volume_is_made_where_there_is_room() -> None:
    """Zone z1 has 1Gi and zone z2 has 5Gi: 2Gi fit into z2 alone, where node c is."""
    rooms = [room("z1", "1Gi"), room("z2", "5Gi")]
    bodies = [*NODES, using("data"), FIRST_USE, *rooms]
    assert allowed(*bodies, driver(), waiting_claim("2Gi")) == ["c"]
    assert allowed(*bodies, driver(), waiting_claim("1Gi")) == ["a", "b", "c"]
    assert allowed(*bodies, driver(reports=False), waiting_claim("2Gi")) == ["a", "b", "c"]


def test_a_volume_for_which_there_is_no_room_keeps_the_pod_waiting() -> None:
    """6Gi are more than any zone has."""
    bodies = [*NODES, using("data"), FIRST_USE, driver(), room("z2", "5Gi")]
    hold = hold_of(*bodies, waiting_claim("6Gi"))
    assert hold.kind == ReasonKind.GATED
    assert "no CSIStorageCapacity of StorageClass fast has room for 6Gi" in hold.detail


def csi_node(name: str, count: int) -> Body:
    """What a node can attach of the driver."""
    drivers = [{"name": DRIVER, "nodeID": name, "allocatable": {"count": count}}]
    return {
        "apiVersion": API,
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


def attached(name: str, node_name: str) -> Body:
    """A volume of that name is attached to a node."""
    source = {"persistentVolumeName": name}
    return {
        "apiVersion": API,
        "kind": "VolumeAttachment",
        "metadata": {"name": f"va-{name}"},
        "spec": {"attacher": DRIVER, "nodeName": node_name, "source": source},
    }


def disk(name: str) -> Body:
    """A volume of the driver."""
    body = volume(name)
    body["spec"] |= {"csi": {"driver": DRIVER, "volumeHandle": f"h-{name}"}}
    return body


def test_a_node_attaches_so_many_volumes() -> None:
    """Node a can attach 3, of which one is attached: two pods of one volume each fit, b has room.

    The attachment is of no pod, and counts all the same.
    """
    disks = [disk("pv"), disk("pv-2"), attached("pv-2", "a")]
    found = whole(*NODES, using("data"), claim(), *disks, csi_node("a", 3)).snapshot
    (role,) = found.gangs[0].roles
    assert role.request.extra == ((AMOUNT, 1),)
    small = replace(role.request, gpus=0)
    assert fits(found.free["a"], small) == 2
    assert fits(found.free["b"], small) > 2


def test_a_disk_that_a_pod_itself_names_is_attached_too() -> None:
    """Node a attaches 2 disks of Amazon, and two pods of others there share one: one more fits."""
    kind = "ebs.csi.aws.com"
    limit = csi_node("a", 2)
    limit["spec"]["drivers"][0]["name"] = kind

    def naming(name: str, disk: str, **fields: Any) -> Body:
        volumes = [{"name": "d", "awsElasticBlockStore": {"volumeID": disk}}]
        return pod(name, 0, volumes=volumes, **fields)

    there = [
        naming(name, "d-1", nodeName="a", phase="Running", schedulerName="default-scheduler")
        for name in ("p", "q")
    ]
    found = whole(*NODES, limit, *there, naming("r", "d-2")).snapshot
    (role,) = found.gangs[0].roles
    asked = dict(role.request.extra)
    assert asked[f"attachable-volumes-csi-{kind}"] == 1
    assert found.free["a"].amount(f"attachable-volumes-csi-{kind}") == 1
    assert fits(found.free["a"], role.request) == 1


def test_a_volume_of_several_pods_counts_once_for_each() -> None:
    """Node a can attach 2, and a pod of ours there has the volume, attached: one more pod fits.

    By what is attached, two would; the plan takes less than there is, and never more.
    """
    there = using("data", name="there", nodeName="a", phase="Running")
    disks = [disk("pv"), attached("pv", "a")]
    found = whole(*NODES, there, using("data"), claim(), *disks, csi_node("a", 2)).snapshot
    (role,) = found.gangs[0].roles
    assert found.free["a"].amount(AMOUNT) == 1
    assert fits(found.free["a"], replace(role.request, gpus=0)) == 1
