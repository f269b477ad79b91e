"""Devices by ResourceClaims on a real API server, with the controller that makes and frees them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.processes import Process
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import grant
from tests.twins.resource_claims import claim_spec, device_class, resource_slice

RESOURCES = "/apis/resource.k8s.io/v1"
GPUS = [f"gpu-{i}" for i in range(8)]
CONTROLLERS = ("resourceclaim-controller", "garbage-collector-controller")
"""None that would miss the kubelets of these nodes."""

WRITES = 1 + 2 * 2 + 2
"""The page; finalizer and status of each claim; two bindings."""


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """One leaf of two nodes whose GPUs a driver publishes; no node says so in its allocatable."""
    plane = module_control_plane
    if not plane.managed:
        pytest.skip("the cluster that the environment names has controllers of its own")
    create_fleet(plane.kubeconfig(), Fleet(2, gpus=0))
    grant(plane, "scheduler-a", "scheduler-b")
    plane.controller_manager(controllers=CONTROLLERS)
    spec = {"devices": {"mode": "dra"}}
    said = {"apiVersion": "topology.scheduler/v1alpha1", "kind": "SchedulerConfig", "spec": spec}
    with plane.api() as api:
        config = {
            "metadata": {"name": "topology-scheduler-config"},
            "data": {"config.yaml": json.dumps(said)},
        }
        api.create("/api/v1/namespaces/kube-system/configmaps", config)
        api.create(f"{RESOURCES}/deviceclasses", device_class())
        for name in Fleet(2).names():
            api.create(f"{RESOURCES}/resourceslices", resource_slice(name, GPUS))
    return plane


@pytest.fixture
def api(plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with plane.api() as api:
        yield api


def scheduler(plane: Plane, role: str, folder: Path, when: str = "never", at: int = 0) -> Process:
    """A scheduler process that dies at a write, or never."""
    command = [sys.executable, "-m", "tests.e2e.dying", str(plane.kubeconfig(role)), when, str(at)]
    return Process(f"{role} {when} {at}", command, folder / f"{role}-{when}-{at}.log")


def submit(api: Api, namespace: str) -> None:
    """A gang of two pods, each with a claim for the eight GPUs of a node, by template."""
    template = {"metadata": {"name": "eight"}, "spec": {"spec": claim_spec(8)}}
    api.create(f"{RESOURCES}/namespaces/{namespace}/resourceclaimtemplates", template)
    for i in range(2):
        said = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
        claim = {"name": "gpus", "resourceClaimTemplateName": "eight"}
        container = {
            "name": "main",
            "image": "train",
            "resources": {"claims": [{"name": "gpus"}]},
        }
        spec = {
            "schedulerName": "topology-aware-scheduler",
            "terminationGracePeriodSeconds": 0,
            "resourceClaims": [claim],
            "containers": [container],
        }
        body: dict[str, Any] = {"metadata": {"name": f"g-{i}", "annotations": said}, "spec": spec}
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)


def pods(api: Api, namespace: str) -> dict[str, dict[str, Any]]:
    """All pods of a namespace, by name."""
    items = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return {body["metadata"]["name"]: body for body in items}


def claims(api: Api, namespace: str) -> list[dict[str, Any]]:
    """All claims of a namespace."""
    found = api.get(f"{RESOURCES}/namespaces/{namespace}/resourceclaims")["items"]
    return list(found)


def all_bound(api: Api, namespace: str) -> bool:
    """Whether both run."""
    found = pods(api, namespace)
    return len(found) == 2 and all(holds(pod) for pod in found.values())


def clear(api: Api, namespace: str) -> None:
    """Delete the gang, and wait until its claims have gone after it."""
    for name in pods(api, namespace):
        api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0")
    eventually(lambda: not claims(api, namespace), "the claims have gone")


def check(api: Api, namespace: str) -> None:
    """Each pod has all GPUs of its own node, by a claim that is reserved for it alone."""
    found = pods(api, namespace)
    assert {one["spec"]["nodeName"] for one in found.values()} == {"gpu-0", "gpu-1"}
    assert len(claims(api, namespace)) == 2
    for claim in claims(api, namespace):
        (user,) = claim["status"]["reservedFor"]
        pod = found[user["name"]]
        node = pod["spec"]["nodeName"]
        assert user["uid"] == pod["metadata"]["uid"]
        (said,) = pod["status"]["resourceClaimStatuses"]
        assert said["resourceClaimName"] == claim["metadata"]["name"]
        results = claim["status"]["allocation"]["devices"]["results"]
        assert [(one["pool"], one["device"]) for one in results] == [(node, gpu) for gpu in GPUS]
        (term,) = claim["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
        assert term["matchFields"][0]["values"] == [node]


def forget_leader(api: Api) -> None:
    """Spare the next round the wait for the dead leader's Lease."""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fourleaf-scheduler"
    api.patch(path, {"spec": {"holderIdentity": ""}})


def leads(process: Process) -> bool:
    """Whether a scheduler says that it has taken over."""
    return "took_over" in process.log.read_text()


def test_claims_have_their_devices_before_their_pods_are_bound(
    plane: Plane, api: Api, tmp_path: Path
) -> None:
    """With the rights that ship: both claims are allocated, then both pods bound."""
    namespace = api.new_namespace()
    process = scheduler(plane, "scheduler-a", tmp_path)
    process.start()
    try:
        eventually(lambda: leads(process), "it leads")
        submit(api, namespace)
        eventually(lambda: all_bound(api, namespace), "both run")
        check(api, namespace)
        versions = {pod["metadata"]["uid"]: _version(pod) for pod in pods(api, namespace).values()}
        for claim in claims(api, namespace):
            (user,) = claim["status"]["reservedFor"]
            assert _version(claim) < versions[user["uid"]]
        lines = [one for one in process.log.read_text().splitlines() if one.startswith("write ")]
        assert len(lines) == WRITES
        clear(api, namespace)
        eventually(lambda: not breaches(api), "nothing is left on the pages")
    finally:
        process.kill()
        forget_leader(api)


def _version(body: dict[str, Any]) -> int:
    return int(body["metadata"]["resourceVersion"])


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_write(plane: Plane, api: Api, tmp_path: Path, when: str) -> None:
    """Also between allocation and binding: the next leader goes on with the same devices."""
    for at in range(1, WRITES + 1):
        namespace = api.new_namespace()
        victim = scheduler(plane, "scheduler-a", tmp_path, when, at)
        heir = scheduler(plane, "scheduler-b", tmp_path, "never", at)
        victim.start()
        try:
            eventually(lambda v=victim: leads(v), "the victim leads")
            submit(api, namespace)
            eventually(lambda v=victim: not v.running, f"{victim.name}: it dies")
            heir.start()
            eventually(lambda n=namespace: all_bound(api, n), f"{victim.name}: both run")
            check(api, namespace)
            clear(api, namespace)
            eventually(lambda: not breaches(api), f"{victim.name}: pages are free again")
        finally:
            victim.kill()
            heir.kill()
            forget_leader(api)
