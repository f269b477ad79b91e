"""Bad input on a real API server: refused by field, or held with a condition that says why.

Around it good gangs come and go, and no device is ever given twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory.actors import container
from fourleaf.model.crds.definitions import definitions
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_nodes, wait_usable
from tests.controlplane.waiting import eventually, serve
from tests.e2e.accounts import POLICIES, RBAC, SCHEDULER, account, install, uninstall
from tests.e2e.checker import DEVICES, breaches, holds
from tests.e2e.replica import Replica

GANG = "topology.scheduler/gang"
SIZE = "topology.scheduler/gang-size"
COUNT = "topology.scheduler/gpu-count"
CLAIM = "gpu.scheduling/claim"
MAP = "gpu-scheduling-map"
LONG = "g" * 240


@dataclass(frozen=True)
class Bad:
    """A pod that must not be bound, and words of the condition or the refusal that say why."""

    why: str
    annotations: dict[str, str] = field(default_factory=dict)
    gpus: Any = 1
    second: dict[str, Any] | None = None
    priority: str = ""


BAD = {
    "gang size zero": Bad("is zero", {GANG: "a", SIZE: "0"}),
    "gang size negative": Bad("not a whole number", {GANG: "b", SIZE: "-2"}),
    "gang size too large": Bad("is above", {GANG: "c", SIZE: str(2**31)}),
    "gang size a fraction": Bad("not a whole number", {GANG: "d", SIZE: "1.5"}),
    "gang size in other digits": Bad("not a whole number", {GANG: "e", SIZE: "٣"}),
    "gang size empty": Bad("not a whole number", {GANG: "f", SIZE: ""}),
    "gang size not a number": Bad("not a whole number", {GANG: "g", SIZE: "NaN"}),
    "GPU count zero": Bad("is zero", {COUNT: "0"}, gpus=None),
    "GPU count that disagrees": Bad("disagrees", {COUNT: "7"}),
    "unknown annotation": Bad("no known annotation", {"topology.scheduler/gang-sise": "2"}),
    "unknown strategy": Bad("unknown here", {"topology.scheduler/placement-strategy": "tight"}),
    "bandwidth without a unit": Bad("bandwidth", {"topology.scheduler/network-bandwidth": "100"}),
    "annotation of 200 KiB": Bad("not a whole number", {GANG: "h", SIZE: "9" * 200 * 1024 + "x"}),
    "claim of another namespace": Bad("another namespace", {CLAIM: "kube-system/mine"}),
    "claim that is not there": Bad("names no GpuClaim", {CLAIM: "nowhere"}),
    "claim for another number": Bad("is for 2 devices", {CLAIM: "two"}),
    "map without a line for the pod": Bad("has no line", {MAP: "9=n:0"}, gpus=None),
    "map that is none": Bad("no line of a device map", {MAP: "0: n 0"}, gpus=None),
    "map with a device twice": Bad("names a device twice", {MAP: "0=n:1,1"}, gpus=None),
    "map with a pod twice": Bad("names pod 0 twice", {MAP: "0=n:1\n0=n:2"}, gpus=None),
    "map of a node that is not there": Bad("NoMatchingNodes", {MAP: "0=nowhere:0"}, gpus=None),
    "map of a device that is not there": Bad("NoMatchingNodes", {MAP: "0={node}:99"}, gpus=None),
    "members with two priorities": Bad(
        "priority", {GANG: "i", SIZE: "2"}, second={"priorityClassName": "higher"}
    ),
    "members of two schedulers": Bad(
        "schedulerName", {GANG: "j", SIZE: "2"}, second={"schedulerName": "another"}
    ),
}

STATUSES = "/apis/gpu.scheduling/v1/gpunodestatuses"
INVENTORIES = {
    "devices of a node that came before": ({}, "names device GPU-twin-0 of "),
    "of an earlier boot": ({"bootID": "earlier", "nodeUID": "earlier"}, "is stale"),
    "of a later version": ({"format": 2}, "has format 2, above 1"),
}
"""What is wrong with the inventories of the second leaf, and what is said of it.

They are those of all its nodes but the first, to which nothing happens.
"""


def inventory(number: int, **status: Any) -> dict[str, Any]:
    """Eight devices; the first two nodes have the same."""
    name = "twin" if number < 2 else str(number)
    gpus = [{"index": i, "uuid": f"GPU-{name}-{i}", "product": "H100"} for i in range(8)]
    return {"status": {"gpus": gpus} | status}


REFUSED = {
    "GPUs as a fraction": Bad("must be an integer", gpus="1.5"),
    "GPUs below zero": Bad("must be greater than or equal to 0", gpus="-1"),
    "GPUs that are no number": Bad("quantities must match", gpus="NaN"),
    "annotations of more than 256 KiB": Bad("Too long", {GANG: "g" * 257 * 1024}),
}


KIND = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuNodeStatus"}


def held_back(api: Api) -> list[str]:
    """The nodes of the second leaf, by name."""
    return sorted(one["metadata"]["name"] for one in api.get("/api/v1/nodes")["items"])[4:]


@pytest.fixture(scope="module")
def scheduled(
    module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plane]:
    """Two leaves of four nodes, and one replica under its own account with the policies that ship.

    Of the second leaf only the inventory of the first node can be believed.
    """
    plane = module_control_plane
    if plane.managed:
        plane.controller_manager()
    plane.kwok()
    asyncio.run(create_nodes(plane.kubeconfig(), Fleet(8).objects(ready=False)))
    folder = tmp_path_factory.mktemp("replica")
    with plane.api() as api:
        serve(api, definitions())
        for number, status in enumerate(({}, *(status for status, _ in INVENTORIES.values()))):
            name = held_back(api)[number]
            api.create(STATUSES, {**KIND, "metadata": {"name": name}})
            api.patch(f"{STATUSES}/{name}/status", inventory(number, **status))
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        api.create(classes, {"metadata": {"name": "higher"}, "value": 1000})
        made = install(api, RBAC / "scheduler.yaml", *POLICIES)
        wait_usable(api, Fleet(8).names())
        kubeconfig = account(plane, SCHEDULER, folder)
        with Replica(plane, "admin", folder, kubeconfig=kubeconfig) as replica:
            eventually(lambda: replica.leads, "the replica leads")
            yield plane
        uninstall(api, made)


@pytest.fixture(scope="module")
def api(scheduled: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with scheduled.api() as api:
        yield api


@pytest.fixture(scope="module")
def node(api: Api) -> str:
    """Any node."""
    return str(api.get("/api/v1/nodes")["items"][0]["metadata"]["name"])


def pod(name: str, bad: Bad, **spec: Any) -> dict[str, Any]:
    """A pod as the case has it."""
    limits = {} if bad.gpus is None else {"nvidia.com/gpu": str(bad.gpus)}
    main = container() | {"resources": {"limits": limits}}
    whole = {"schedulerName": "topology-aware-scheduler", "containers": [main]} | spec
    return {"metadata": {"name": name, "annotations": bad.annotations}, "spec": whole}


def condition(api: Api, namespace: str, name: str) -> str:
    """What PodScheduled says."""
    status = api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["status"]
    return " ".join(one.get("message", "") for one in status.get("conditions", []))


@pytest.fixture(scope="module")
def crowd(api: Api, node: str) -> Iterator[str]:
    """A namespace with all the bad pods at once, and a good gang after them."""
    namespace = api.new_namespace()
    pods = f"/api/v1/namespaces/{namespace}/pods"
    claims = f"/apis/gpu.scheduling/v1/namespaces/{namespace}/gpuclaims"
    body = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim"}
    api.create(claims, body | {"metadata": {"name": "two"}, "spec": {"devices": {"count": 2}}})
    for number, bad in enumerate(BAD.values()):
        said = {key: value.replace("{node}", node) for key, value in bad.annotations.items()}
        case = Bad(bad.why, said, bad.gpus)
        api.create(pods, pod(f"bad{number}-0", case))
        if bad.second is not None:
            api.create(pods, pod(f"bad{number}-1", case, **bad.second))
    for i in range(2):
        api.create(pods, pod(f"good-{i}", Bad("", {GANG: "good", SIZE: "2"}, 8)))
    yield namespace

    def none_left() -> bool:
        api.delete(pods)
        return not api.get(pods)["items"]

    eventually(none_left, "all pods are gone", 60)


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_waits_and_says_why(api: Api, crowd: str, name: str) -> None:
    """The condition names what is wrong, and the pod has no node."""
    first = f"bad{list(BAD).index(name)}-0"
    why = BAD[name].why
    eventually(lambda: why in condition(api, crowd, first), f"{first} says {why!r}", 60)
    assert "nodeName" not in api.get(f"/api/v1/namespaces/{crowd}/pods/{first}")["spec"]


@pytest.mark.parametrize("name", INVENTORIES)
def test_a_node_with_a_bad_inventory_takes_nobody(api: Api, crowd: str, name: str) -> None:
    """A pod for that node alone waits, and is told what is wrong with the inventory."""
    number = 1 + list(INVENTORIES).index(name)
    selector = {"kubernetes.io/hostname": held_back(api)[number]}
    body = pod(f"for-{number}", Bad(""), nodeSelector=selector)
    api.create(f"/api/v1/namespaces/{crowd}/pods", body)
    why = INVENTORIES[name][1]
    eventually(lambda: why in condition(api, crowd, f"for-{number}"), f"it says {why!r}", 60)
    assert "nodeName" not in api.get(f"/api/v1/namespaces/{crowd}/pods/for-{number}")["spec"]


def test_good_gangs_are_not_held_up_by_bad_ones(api: Api, crowd: str) -> None:
    """The gang that came last is bound, whole, and no device is held twice."""
    pods = f"/api/v1/namespaces/{crowd}/pods"

    def bound() -> list[dict[str, Any]]:
        return [one for one in api.get(pods)["items"] if holds(one)]

    eventually(lambda: len(bound()) == 2, "the good gang is bound")
    assert sorted(one["metadata"]["name"] for one in bound()) == ["good-0", "good-1"]
    assert {one["metadata"]["annotations"][DEVICES] for one in bound()} == {"0,1,2,3,4,5,6,7"}
    eventually(lambda: not breaches(api), "at rest without a breach")


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_api_server_cannot_take_is_refused(api: Api, crowd: str, name: str) -> None:
    """The refusal says what is wrong."""
    with pytest.raises(ApiError, match=REFUSED[name].why) as refused:
        api.create(f"/api/v1/namespaces/{crowd}/pods", pod("never", REFUSED[name]))
    assert refused.value.status == 422 or refused.value.status == 400


def test_names_at_the_limit_do_not_clash(api: Api) -> None:
    """Two gangs whose names differ only at the end have commits and devices of their own."""
    namespace = api.new_namespace()
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for end in ("x", "y"):
        for i in range(2):
            said = {GANG: f"{LONG}{end}", SIZE: "2"}
            api.create(pods, pod(f"{LONG}-{end}{i}", Bad("", said, 4)))
    eventually(lambda: sum(map(holds, api.get(pods)["items"])) == 4, "all four are bound")
    held = [
        (one["spec"]["nodeName"], number)
        for one in api.get(pods)["items"]
        for number in one["metadata"]["annotations"][DEVICES].split(",")
    ]
    assert len(held) == len(set(held)) == 16
    eventually(lambda: not breaches(api), "at rest without a breach")
    api.delete(pods)
