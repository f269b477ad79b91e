"""Channels of a ComputeDomain beside GPUs by resource; kube-scheduler's allocator is the oracle.

On a real API server with the real controller of claims: what we write into claims is what
kube-scheduler would have written, and each accepts what the other has given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.processes import Process
from tests.controlplane.releases import has, since
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import grant
from tests.e2e.test_claims import (
    CONTROLLERS,
    RESOURCES,
    claims,
    clear,
    forget_leader,
    leads,
    pods,
    scheduler,
)
from tests.twins.resource_claims import (
    channel_spec,
    compute_domain_classes,
    compute_domain_slice,
)

OURS = "topology-aware-scheduler"
NATIVE = "default-scheduler"
NODES = 4


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """A rack of four nodes of four GPUs by resource; a driver publishes a channel of each."""
    plane = module_control_plane
    if not plane.managed:
        pytest.skip("the cluster that the environment names has controllers of its own")
    create_fleet(plane.kubeconfig(), Fleet(NODES, gpus=4))
    grant(plane, "scheduler-a")
    plane.controller_manager(controllers=CONTROLLERS)
    plane.scheduler()
    with plane.api() as api:
        for body in compute_domain_classes():
            opaque = {"driver": "compute-domain.nvidia.com", "parameters": {"kind": "OfTheClass"}}
            body["spec"]["config"] = [{"opaque": opaque}]
            text = json.dumps(body | typed("DeviceClass"))
            api.request("POST", f"{RESOURCES}/deviceclasses", text, YAML)
        for name in Fleet(NODES).names():
            api.create(f"{RESOURCES}/resourceslices", compute_domain_slice(name))
    return plane


@pytest.fixture
def api(plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with plane.api() as api:
        yield api


@pytest.fixture
def ours(plane: Plane, api: Api, tmp_path: Path) -> Iterator[Process]:
    """Fourleaf, which leads."""
    process = scheduler(plane, "scheduler-a", tmp_path)
    process.start()
    eventually(lambda: leads(process), "it leads")
    yield process
    process.kill()
    forget_leader(api)


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    """A namespace that holds nothing in the end, for all channels are needed by the next test."""
    namespace = api.new_namespace()
    yield namespace
    api.delete(f"{RESOURCES}/namespaces/{namespace}/resourceclaims")
    clear(api, namespace)


YAML = "application/yaml"
"""What kubectl and controllers come to: opaque parameters are stored without spaces."""


def create_claim(api: Api, namespace: str, name: str) -> None:
    """A claim of a channel, for whatever names it."""
    body = {"metadata": {"name": name}, "spec": channel_spec()} | typed("ResourceClaim")
    path = f"{RESOURCES}/namespaces/{namespace}/resourceclaims"
    api.request("POST", path, json.dumps(body), YAML)


def create_template(api: Api, namespace: str) -> None:
    """The template that the controller of ComputeDomains makes."""
    body = {"metadata": {"name": "imex-channel"}, "spec": {"spec": channel_spec()}}
    path = f"{RESOURCES}/namespaces/{namespace}/resourceclaimtemplates"
    api.request("POST", path, json.dumps(body | typed("ResourceClaimTemplate")), YAML)


def typed(kind: str) -> dict[str, str]:
    """The type of a body."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind}


def submit(
    api: Api,
    namespace: str,
    name: str,
    scheduler_name: str,
    gpus: int,
    gang: int = 1,
    **source: str,
) -> None:
    """Pods of a gang, each with GPUs by resource and a channel by a claim."""
    said = {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(gang)}
    for i in range(gang):
        resources: dict[str, Any] = {"claims": [{"name": "channel"}]}
        if gpus:
            resources["limits"] = {"nvidia.com/gpu": str(gpus)}
        spec = {
            "schedulerName": scheduler_name,
            "terminationGracePeriodSeconds": 0,
            "resourceClaims": [{"name": "channel", **source}],
            "containers": [container() | {"resources": resources}],
        }
        body = {"metadata": {"name": f"{name}-{i}", "annotations": said}, "spec": spec}
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)


def places(api: Api, namespace: str) -> dict[str, str]:
    """Pod -> node, of those that are bound."""
    return {
        name: pod["spec"]["nodeName"] for name, pod in pods(api, namespace).items() if holds(pod)
    }


def shapes(api: Api, namespace: str) -> dict[str, dict[str, Any]]:
    """Node -> what the claim there says, without names, UIDs and times of this run."""
    found = {}
    bound = places(api, namespace)
    for claim in claims(api, namespace):
        status = claim["status"]
        (user,) = status["reservedFor"]
        node = bound[user.pop("name")]
        assert user.pop("uid")
        assert status["allocation"].pop("allocationTimestamp", "") or not has(36)
        finalizers = sorted(claim["metadata"]["finalizers"])
        found[node] = {"status": status, "finalizers": finalizers, "spec": claim["spec"]}
    return found


def test_a_gang_gets_its_channels_as_kube_scheduler_gives_them(api: Api, ours: Process) -> None:
    """All claims are allocated and all pods bound; the claims equal those of kube-scheduler."""
    found = {}
    for name in (OURS, NATIVE):
        namespace = api.new_namespace()
        create_template(api, namespace)
        source = {"resourceClaimTemplateName": "imex-channel"}
        submit(api, namespace, "g", name, 4, NODES, **source)
        eventually(lambda n=namespace: len(places(api, n)) == NODES, f"{name}: all run")
        assert set(places(api, namespace).values()) == set(Fleet(NODES).names())
        found[name] = shapes(api, namespace)
        clear(api, namespace)
        eventually(lambda: not breaches(api), "nothing is left on the pages")
    assert len(found[OURS]) == NODES
    assert found[OURS] == found[NATIVE]
    assert ours.running


def test_each_scheduler_accepts_what_the_other_has_given(
    api: Api, ours: Process, namespace: str
) -> None:
    """A claim that one has allocated takes pods of the other to its node, and is theirs as well."""
    rounds = ((OURS, NATIVE), (NATIVE, OURS))
    for first, second in rounds:
        shared = f"shared-{first}"
        create_claim(api, namespace, shared)
        submit(api, namespace, first, first, 1, resourceClaimName=shared)
        eventually(lambda f=first: f"{f}-0" in places(api, namespace), f"{first} gives")
        submit(api, namespace, f"after-{first}", second, 1, resourceClaimName=shared)
        there = f"after-{first}-0"
        eventually(lambda t=there: t in places(api, namespace), f"{second} accepts")
        assert places(api, namespace)[f"{first}-0"] == places(api, namespace)[there]
        (claim,) = [c for c in claims(api, namespace) if c["metadata"]["name"] == shared]
        users = sorted(one["name"] for one in claim["status"]["reservedFor"])
        assert users == sorted([f"{first}-0", there])
    assert ours.running


def test_no_channel_is_given_twice_beside_kube_scheduler(
    api: Api, ours: Process, namespace: str
) -> None:
    """Each has given two of four; a fifth pod of either waits, and starts once one has ended."""
    create_template(api, namespace)
    source = {"resourceClaimTemplateName": "imex-channel"}
    submit(api, namespace, "first", NATIVE, 1, 2, **source)
    eventually(lambda: len(places(api, namespace)) == 2, "kube-scheduler has given two")
    submit(api, namespace, "second", OURS, 1, 2, **source)
    eventually(lambda: len(places(api, namespace)) == 4, "two are left for us")
    assert len(set(places(api, namespace).values())) == NODES
    submit(api, namespace, "third", OURS, 1, **source)

    def says_why() -> bool:
        pod = pods(api, namespace)["third-0"]
        conditions = (pod.get("status") or {}).get("conditions") or ()
        return any("devices of class" in str(one.get("message")) for one in conditions)

    eventually(says_why, "it says what it waits for")
    api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/first-0?gracePeriodSeconds=0")
    eventually(lambda: "third-0" in places(api, namespace), "the channel is free again")
    assert ours.running


@since(36, "the refusal of patches of such claims")
def test_a_claim_that_takes_no_change_says_so_and_holds_nothing(
    api: Api, ours: Process, namespace: str
) -> None:
    """A client in Python has stored spaces in its parameters: the API refuses any patch of it."""
    template = {"metadata": {"name": "spaced"}, "spec": {"spec": channel_spec()}}
    api.create(f"{RESOURCES}/namespaces/{namespace}/resourceclaimtemplates", template)
    submit(api, namespace, "spaced", OURS, 4, NODES, resourceClaimTemplateName="spaced")

    def says_why() -> bool:
        pod = pods(api, namespace)["spaced-0"]
        conditions = (pod.get("status") or {}).get("conditions") or ()
        return any("takes no change" in str(one.get("message")) for one in conditions)

    eventually(says_why, "it says what is wrong with its claim")
    create_template(api, namespace)
    source = {"resourceClaimTemplateName": "imex-channel"}
    submit(api, namespace, "good", OURS, 4, NODES, **source)
    eventually(lambda: len(places(api, namespace)) == NODES, "the nodes are free for others", 90.0)
    assert all(name.startswith("good") for name in places(api, namespace))
    assert ours.running
