"""Volumes: the nodes that bound claims leave a pod, and the claims that keep it waiting."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.gang import Gang, Hold
from fourleaf.model.node import Node
from fourleaf.model.readers import InputReading, read
from fourleaf.model.readers.pods.volumes import SELECTED_BY_US, SELECTED_NODE
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.made import Body, node, pod, source

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def claim(name: str = "data", volume: str = "pv", phase: str = "Bound", **spec: Any) -> Body:
    """A PersistentVolumeClaim of namespace ml, bound to `volume`."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"volumeName": volume, "storageClassName": "fast", **spec},
        "status": {"phase": phase},
    }


def volume(name: str = "pv", *hosts: tuple[str, ...], zone: str = "") -> Body:
    """A PersistentVolume with one term of node affinity for each of `hosts`."""
    terms = [
        {"matchExpressions": [{"key": HOST, "operator": "In", "values": list(some)}]}
        for some in hosts
    ]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {}
    metadata = {"name": name, "labels": {ZONE: zone} if zone else {}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": affinity}


def storage_class(mode: str) -> Body:
    """The StorageClass `fast`."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "disk.example.org",
        "volumeBindingMode": mode,
    }


def using(*claims: str, **spec: Any) -> Body:
    """A pod that uses these claims, and a token as every pod does."""
    volumes: list[Body] = [{"name": "token", "projected": {}}]
    volumes += [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims]
    return pod(volumes=volumes, **spec)


def place(name: str, zone: str = "") -> Body:
    """A node with its hostname, in a zone."""
    body = node(name)
    body["metadata"]["labels"] |= {HOST: name} | ({ZONE: zone} if zone else {})
    return body


def whole(*bodies: Body) -> InputReading:
    """Read `bodies` as all that a cluster has."""
    return read([source(*bodies)], strict=False, whole=True)


def gang_of(*bodies: Body) -> Gang:
    """The one gang of a cluster."""
    (gang,) = whole(*bodies).snapshot.gangs
    return gang


def hold_of(*bodies: Body) -> Hold:
    """What holds the one gang of a cluster."""
    hold = gang_of(*bodies).hold
    assert hold is not None
    return hold


def allowed(*bodies: Body) -> list[str]:
    """The nodes that the one gang of a cluster may use."""
    found = whole(*bodies)
    (gang,) = found.snapshot.gangs
    assert gang.hold is None
    constraint = gang.roles[0].constraint
    nodes: list[Node] = [one for leaf in found.snapshot.fabric.leaves for one in leaf.nodes]
    return [one.name for one in nodes if constraint.selects(one)]


NODES = [place("a", "z1"), place("b", "z1"), place("c", "z2")]


def test_a_local_volume_ties_the_pod_to_its_node() -> None:
    """Of three nodes the one that the volume is on."""
    assert allowed(*NODES, using("data"), claim(), volume("pv", ("b",))) == ["b"]


def test_any_term_of_a_volume_will_do() -> None:
    """Two terms of a node each."""
    assert allowed(*NODES, using("data"), claim(), volume("pv", ("a",), ("c",))) == ["a", "c"]


def test_volume_and_pod_must_agree() -> None:
    """The pod wants a or b in its two terms, the volume b or c: b is left."""
    terms = [
        {"matchExpressions": [{"key": HOST, "operator": "In", "values": [one]}]} for one in "ab"
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    body = using("data", affinity={"nodeAffinity": required})
    assert allowed(*NODES, body, claim(), volume("pv", ("b",), ("c",))) == ["b"]


def test_all_volumes_of_a_pod_must_be_reached() -> None:
    """One on a or b, one on b or c: b is left."""
    claims = [claim("data", "pv"), claim("logs", "pv2")]
    volumes = [volume("pv", ("a", "b")), volume("pv2", ("b", "c"))]
    assert allowed(*NODES, using("data", "logs"), *claims, *volumes) == ["b"]


def test_the_zone_of_a_volume_counts() -> None:
    """By its label, which may name several."""
    assert allowed(*NODES, using("data"), claim(), volume(zone="z1")) == ["a", "b"]
    assert allowed(*NODES, using("data"), claim(), volume(zone="z2__z3")) == ["c"]


def test_an_old_zone_of_a_volume_counts_for_nodes_with_the_new_label() -> None:
    """The volume is in z1 by the label of old: so are a and b, d by that label, and e by none.

    Node f says z2 in the old one, and that counts there.
    """
    old = "failure-domain.beta.kubernetes.io/zone"
    body = volume()
    body["metadata"]["labels"] = {old: "z1"}
    others = [place("d"), place("e"), place("f", "z1")]
    others[0]["metadata"]["labels"][old] = "z1"
    others[2]["metadata"]["labels"][old] = "z2"
    may = allowed(*NODES, *others, using("data"), claim(), body)
    assert sorted(may) == ["a", "b", "d", "e"]


@pytest.mark.parametrize("by", ["affinity", "label"])
def test_the_zone_of_an_older_volume_is_that_of_its_driver(by: str) -> None:
    """Its driver runs on a and c alone, and tells of a that it is in z1: b has none of it."""
    body = volume(zone="z1" if by == "label" else "")
    body["spec"]["gcePersistentDisk"] = {"pdName": "d"}
    if by == "affinity":
        zoned = {"key": ZONE, "operator": "In", "values": ["z1"]}
        terms = [{"matchExpressions": [zoned]}]
        body["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    a, b, c = place("a", "z1"), place("b", "z1"), place("c", "z2")
    for one, zone in ((a, "z1"), (c, "z2")):
        one["metadata"]["labels"]["topology.gke.io/zone"] = zone
    assert allowed(a, b, c, using("data"), claim(), body) == ["a"]


@pytest.mark.parametrize("label", ["", "z1__"])
def test_a_zone_that_is_none_ties_to_no_node(label: str) -> None:
    """A label that is empty, or in a part of it, says nothing."""
    body = volume()
    body["metadata"]["labels"] = {ZONE: label}
    assert allowed(*NODES, using("data"), claim(), body) == ["a", "b", "c"]


def test_a_volume_without_demands_leaves_all_nodes() -> None:
    """Such as one of NFS."""
    assert allowed(*NODES, using("data"), claim(), volume()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ([], "PersistentVolumeClaim ml/data does not exist"),
        ([claim(volume="", phase="Pending")], "PersistentVolumeClaim ml/data is not bound yet"),
        ([claim(phase="Lost")], "PersistentVolume pv of PersistentVolumeClaim ml/data is lost"),
        ([claim()], "PersistentVolume pv of PersistentVolumeClaim ml/data does not exist"),
    ],
    ids=["missing", "pending", "lost", "no volume"],
)
def test_what_is_not_there_yet_keeps_the_pod_waiting(others: list[Body], why: str) -> None:
    """Placed now, it would hold its GPUs and never start."""
    hold = hold_of(*NODES, using("data"), *others)
    assert (hold.kind, hold.detail) == (ReasonKind.GATED, why)


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        ("Lost", "PersistentVolume pv of PersistentVolumeClaim ml/data is lost"),
        ("Pending", "PersistentVolumeClaim ml/data is not bound yet to PersistentVolume pv"),
    ],
    ids=["lost", "pending"],
)
def test_no_volume_is_made_for_a_claim_that_names_one(phase: str, why: str) -> None:
    """Not even where its class makes volumes on first use, and that one is on node b."""
    first = storage_class("WaitForFirstConsumer")
    hold = hold_of(*NODES, using("data"), claim(phase=phase), volume("pv", ("b",)), first)
    assert (hold.kind, hold.detail) == (ReasonKind.GATED, why)


def test_the_class_that_an_annotation_names_comes_first() -> None:
    """Class fast makes volumes on first use; the other one is not there, or is `fast` itself."""
    first = storage_class("WaitForFirstConsumer")
    old = "volume.beta.kubernetes.io/storage-class"

    def body(annotated: str, said: str | None) -> Body:
        made = claim(volume="", phase="Pending", storageClassName=said)
        made["metadata"]["annotations"] = {old: annotated}
        return made

    assert hold_of(*NODES, using("data"), body("other", "fast"), first).kind is ReasonKind.GATED
    assert allowed(*NODES, using("data"), body("fast", None), first) == ["a", "b", "c"]
    assert allowed(*NODES, using("data"), body("fast", "other"), first) == ["a", "b", "c"]


def test_a_node_that_another_scheduler_has_selected_for_a_claim() -> None:
    """The volume comes to b, unless a gang of ours has selected it, which may select another."""
    first, body = storage_class("WaitForFirstConsumer"), claim(volume="", phase="Pending")
    body["metadata"]["annotations"] = {SELECTED_NODE: "b"}
    assert allowed(*NODES, using("data"), body, first) == ["b"]
    first["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z2"]}]}]
    assert allowed(*NODES, using("data"), body, first) == []
    body["metadata"]["annotations"][SELECTED_BY_US] = "b"
    assert allowed(*NODES, using("data"), body, first) == ["c"]


def test_a_claim_that_is_being_deleted() -> None:
    """It is gone before the pod starts."""
    body = claim()
    body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert hold_of(*NODES, using("data"), body, volume()).kind == ReasonKind.GATED


def test_a_claim_whose_volume_is_made_on_first_use() -> None:
    """All nodes that its class allows are left; one that binds at once keeps the pod waiting."""
    body = claim(volume="", phase="Pending")
    first = storage_class("WaitForFirstConsumer")
    assert allowed(*NODES, using("data"), body, first) == ["a", "b", "c"]
    expression = {"key": ZONE, "values": ["z1"]}
    first["allowedTopologies"] = [{"matchLabelExpressions": [expression]}]
    assert allowed(*NODES, using("data"), body, first) == ["a", "b"]
    hold = hold_of(*NODES, using("data"), body, storage_class("Immediate"))
    assert hold.kind == ReasonKind.GATED


def test_volumes_that_people_make_are_refused_by_name() -> None:
    """Which of them a claim would get on first use is not looked at."""
    body = storage_class("WaitForFirstConsumer") | {"provisioner": "kubernetes.io/no-provisioner"}
    hold = hold_of(*NODES, using("data"), claim(volume="", phase="Pending"), body)
    assert hold.kind == ReasonKind.UNSUPPORTED
    assert hold.unblock == ("Bind PersistentVolumeClaim ml/data to a volume first.",)


def test_a_disk_that_no_driver_attaches_is_refused_by_name() -> None:
    """Of the pod itself or of a volume: kube-scheduler fails to read either, and binds no pod."""
    disk = {"diskName": "d", "diskURI": "https://a.blob.core.windows.net/c/d.vhd"}
    for kind, refused in (("Shared", True), ("Dedicated", True), ("Managed", False)):
        older = volume()
        older["spec"] |= {"csi": None, "azureDisk": disk | {"kind": kind}}
        own = using("data")
        own["spec"]["volumes"] = [{"name": "own", "azureDisk": disk | {"kind": kind}}]
        for objects in ((using("data"), claim(), older), (own,)):
            if refused:
                hold = hold_of(*NODES, *objects)
                assert hold.kind == ReasonKind.UNSUPPORTED
                assert f"azureDisk.kind {kind}" in hold.detail
            else:
                assert allowed(*NODES, *objects) == ["a", "b", "c"]


def test_an_ephemeral_volume_is_the_pods_own() -> None:
    """Its claim is named after pod and volume, and the pod controls it.

    One of that name that another made is not it.
    """
    body = pod("p", volumes=[{"name": "scratch", "ephemeral": {}}])
    body["metadata"]["uid"] = "p-uid"
    own = claim("p-scratch")
    owner = {"kind": "Pod", "name": "p", "uid": "p-uid"}
    own["metadata"]["ownerReferences"] = [owner]
    assert hold_of(*NODES, body, own, volume()).kind is ReasonKind.GATED
    own["metadata"]["ownerReferences"] = [owner | {"controller": True}]
    assert allowed(*NODES, body, own, volume("pv", ("c",))) == ["c"]
    assert "was not made for the pod" in hold_of(*NODES, body, claim("p-scratch"), volume()).detail


def test_terms_that_multiply_are_bounded() -> None:
    """Two volumes of eleven terms each come to 121: the gang is held, and nothing is built."""
    hosts = [(f"h{i}",) for i in range(11)]
    claims = [claim("data", "pv"), claim("logs", "pv2")]
    volumes = [volume("pv", *hosts), volume("pv2", *hosts)]
    hold = hold_of(*NODES, using("data", "logs"), *claims, *volumes)
    assert hold.kind == ReasonKind.UNSUPPORTED
    assert "over 100 terms" in hold.detail


def test_a_file_may_leave_claims_out() -> None:
    """That is said, and the pod is planned."""
    found = read([source(using("data"))])
    (warning,) = found.problems
    assert warning.field == "spec.volumes[1].persistentVolumeClaim.claimName"
    assert found.snapshot.gangs[0].hold is None
