"""Volumes on a real API server, with the controller that binds claims to volumes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica, grant

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
HOST = "kubernetes.io/hostname"
RESYNCS = 90.0
"""Seconds until a claim is bound: what its controller misses, or meets a conflict with, it comes
back to every fifteen."""


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """Four nodes of one leaf, a class whose volumes are made on first use, and its controller."""
    plane = module_control_plane
    if not plane.managed:
        pytest.skip("the cluster that the environment names has controllers of its own")
    create_fleet(plane.kubeconfig(), Fleet(4))
    grant(plane, "scheduler-a")
    plane.controller_manager(controllers=("persistentvolume-binder-controller",))
    with plane.api() as api:
        fast = {"metadata": {"name": "fast"}, "provisioner": "disk.example.org"}
        api.create(CLASSES, {**fast, "volumeBindingMode": "WaitForFirstConsumer"})
    return plane


@pytest.fixture
def api(plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with plane.api() as api:
        yield api


def claim(api: Api, namespace: str, name: str, **spec: Any) -> dict[str, Any]:
    """Create a claim of 1 GiB of the class."""
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"metadata": {"name": name}, "spec": {"storageClassName": "fast", **asked, **spec}}
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    made: dict[str, Any] = api.create(path, body)
    return made


def volume(api: Api, body: dict[str, Any], node: str) -> None:
    """Make the volume of a claim, which one node alone reaches."""
    metadata = body["metadata"]
    expression = {"key": HOST, "operator": "In", "values": [node]}
    terms = [{"matchExpressions": [expression]}]
    spec = {
        "storageClassName": "fast",
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "disk.example.org", "volumeHandle": metadata["uid"]},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
    }
    api.create(VOLUMES, {"metadata": {"name": f"pv-{metadata['uid']}"}, "spec": spec})


def submit(api: Api, namespace: str, name: str, size: int) -> None:
    """A gang of which pod i uses the claim `name-i`."""
    for i in range(size):
        said = {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(size)}
        used = {"name": "data", "persistentVolumeClaim": {"claimName": f"{name}-{i}"}}
        spec = {
            "schedulerName": "topology-aware-scheduler",
            "containers": [container(8)],
            "volumes": [used],
        }
        body = {"metadata": {"name": f"{name}-{i}", "annotations": said}, "spec": spec}
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)


def claims(api: Api, namespace: str) -> dict[str, dict[str, Any]]:
    """All claims of a namespace, by name."""
    items = api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")["items"]
    return {body["metadata"]["name"]: body for body in items}


def nodes_of(api: Api, namespace: str) -> dict[str, str]:
    """Pod -> node, of those that are bound."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    found = {body["metadata"]["name"]: body["spec"].get("nodeName") for body in items}
    return {name: node for name, node in found.items() if node}


def chosen(api: Api, namespace: str) -> dict[str, str]:
    """Claim -> the node that was selected for it."""
    found = {
        name: (body["metadata"].get("annotations") or {}).get(SELECTED_NODE)
        for name, body in claims(api, namespace).items()
    }
    return {name: node for name, node in found.items() if node}


def test_volumes_that_are_made_on_first_use(plane: Plane, api: Api, tmp_path: Path) -> None:
    """Both claims are told a node, under the shipped rights; the pods start once both are bound."""
    space = api.new_namespace()
    with Replica(plane, "scheduler-a", tmp_path):
        for i in range(2):
            claim(api, space, f"g-{i}")
        submit(api, space, "g", 2)
        eventually(lambda: len(chosen(api, space)) == 2, "a node is selected for both claims")
        selected = chosen(api, space)
        volume(api, claims(api, space)["g-0"], selected["g-0"])
        eventually(
            lambda: claims(api, space)["g-0"]["status"]["phase"] == "Bound",
            "one claim is bound",
            RESYNCS,
        )
        assert nodes_of(api, space) == {}
        volume(api, claims(api, space)["g-1"], selected["g-1"])
        eventually(
            lambda: nodes_of(api, space) == selected, "both start where the volumes are", RESYNCS
        )
        for name in selected:
            path = f"/api/v1/namespaces/{space}/pods/{name}?gracePeriodSeconds=0"
            api.request("DELETE", path)


def test_a_volume_of_one_node(plane: Plane, api: Api, tmp_path: Path) -> None:
    """A claim that is bound to a volume of node gpu-2 takes its pod there, and no other."""
    space = api.new_namespace()
    made = claim(api, space, "h-0", volumeName="")
    name = f"pv-{made['metadata']['uid']}"
    api.patch(
        f"/api/v1/namespaces/{space}/persistentvolumeclaims/h-0", {"spec": {"volumeName": name}}
    )
    volume(api, claims(api, space)["h-0"], "gpu-2")
    eventually(
        lambda: claims(api, space)["h-0"]["status"]["phase"] == "Bound", "it is bound", RESYNCS
    )
    with Replica(plane, "scheduler-a", tmp_path):
        submit(api, space, "h", 1)
        eventually(lambda: nodes_of(api, space) == {"h-0": "gpu-2"}, "it starts there")
