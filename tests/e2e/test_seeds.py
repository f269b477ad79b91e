"""The examples that users of the three older schedulers bring along run as they stand.

Each file of `published` is an example in full. What the API server demands beyond that is in
`ADDED`, and each part of it is shown to be demanded.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import combinations, compress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import (
    LEAF_LABEL,
    SPINE_LABEL,
    Fleet,
    create_nodes,
    wait_usable,
)
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import POLICIES, RBAC, SCHEDULER, account, install, uninstall
from tests.e2e.checker import DEVICES, breaches, holds
from tests.e2e.hook import Scene, claims, namespace, pods, variables
from tests.e2e.replica import Replica

FILES = Path(__file__).parent / "published"
PATHS = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Pod": "/api/v1/namespaces/{}/pods",
    "GpuClaim": "/apis/gpu.scheduling/v1/namespaces/{}/gpuclaims",
}
TEMPLATE = "spec.template.spec."
ADDED: dict[str, dict[str, Any]] = {
    "job.yaml": {TEMPLATE + "restartPolicy": "Never"},
    "single-gpu-job.yaml": {
        TEMPLATE + "restartPolicy": "Never",
        TEMPLATE + "containers.0.image": "gpu-workload:latest",
    },
    "multi-gpu-job.yaml": {
        TEMPLATE + "restartPolicy": "Never",
        TEMPLATE + "containers.0.image": "gpu-workload:latest",
    },
    "inference.yaml": {
        "spec.selector": {"matchLabels": {"app": "inference"}},
        "spec.template.metadata.labels": {"app": "inference"},
    },
    "training.yaml": {
        TEMPLATE + "restartPolicy": "Never",
        TEMPLATE + "containers": [{"name": "main", "image": "gpu-workload:latest"}],
    },
}
"""What the API server refuses an example without, by its place."""

OURS = {"training.yaml": {TEMPLATE + "schedulerName": "topology-aware-scheduler"}}
"""What the API server takes an example without, but gives it to another scheduler."""

USER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "trainer", "annotations": {"gpu.scheduling/claim": "training-gpus"}},
    "spec": {
        "schedulerName": "gpu-scheduler",
        "containers": [
            {
                "name": "main",
                "image": "trainer",
                "resources": {"limits": {"nvidia.com/gpu": "4"}},
            }
        ],
    },
}
"""Who uses the claim that is published without anybody who does."""

AKS = "aks-workerpool-25338008-vmss00000"
PARTS = {"nvidia.com/mig-1g.10gb": 7, "nvidia.com/gpu.shared": 4}
"""What either of two nodes offers in place of GPUs: cut by MIG, and shared by MPS."""

LINKED = "gpu-5"
"""The one node with links of 600 GB/s, between its devices 2 to 5 alone."""

SOURCE = f"metadata.annotations['{DEVICES}']"
CONFIG = "/api/v1/namespaces/kube-system/configmaps"


def fabric() -> list[dict[str, Any]]:
    """Four leaves of four nodes of 8 GPUs, two spines; four AKS nodes of 4; two of parts of GPUs.

    No bandwidth is stated.
    """
    bodies = Fleet(16, leaves_per_spine=2).objects(ready=False)
    mapped = Fleet(4, gpus=4).objects(ready=False)
    for number, body in zip((0, 1, 3, 4), mapped, strict=True):
        body["metadata"]["name"] = f"{AKS}{number}"
        labels = {LEAF_LABEL: "aks-leaf", SPINE_LABEL: "aks"}
        body["metadata"]["labels"] |= labels | {"kubernetes.io/hostname": f"{AKS}{number}"}
    parts = Fleet(2, gpus=0).objects(ready=False)
    for number, body in enumerate(parts):
        body["metadata"]["name"] = f"parts-{number}"
        labels = {LEAF_LABEL: "parts", SPINE_LABEL: "parts"}
        body["metadata"]["labels"] |= labels | {"kubernetes.io/hostname": f"parts-{number}"}
        body["status"]["allocatable"] |= {name: str(count) for name, count in PARTS.items()}
    return [*bodies, *mapped, *parts]


def inventory() -> dict[str, Any]:
    """What an agent tells of `LINKED`."""
    gpus = [{"index": i, "uuid": f"GPU-{i}", "product": "H100"} for i in range(8)]
    links = [{"a": a, "b": b, "bandwidthGBps": 600} for a, b in combinations(range(2, 6), 2)]
    return {"status": {"gpus": gpus, "links": links}}


@pytest.fixture(scope="module")
def replica(
    module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Replica]:
    """Webhook, scheduler, policies, controllers and kubelets at work."""
    plane, folder = module_control_plane, tmp_path_factory.mktemp("all")
    scene = Scene(plane, folder)
    plane.controller_manager()
    plane.kwok()
    nodes = fabric()
    asyncio.run(create_nodes(plane.kubeconfig(), nodes))
    with scene.api as api:
        statuses = "/apis/gpu.scheduling/v1/gpunodestatuses"
        head = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuNodeStatus"}
        api.create(statuses, {**head, "metadata": {"name": LINKED}})
        api.patch(f"{statuses}/{LINKED}/status", inventory())
        made = install(api, RBAC / "scheduler.yaml", *POLICIES)
        wait_usable(api, [body["metadata"]["name"] for body in nodes])
        kubeconfig = account(plane, SCHEDULER, folder)
        with scene.hook(), Replica(plane, "admin", folder, kubeconfig=kubeconfig) as replica:
            scene.wait()
            eventually(lambda: replica.leads, "the replica leads")
            yield replica
        uninstall(api, made)


@pytest.fixture
def api(replica: Replica, module_control_plane: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with module_control_plane.api() as api:
        yield api


@pytest.fixture
def space(api: Api) -> Iterator[str]:
    """A namespace that opted in; what it held is gone when the test has ended."""
    name = namespace(api, enforce="true")
    yield name
    _clear(api, name)


def _clear(api: Api, name: str) -> None:
    for kind in ("Job", "Deployment"):
        api.delete(f"{PATHS[kind].format(name)}?propagationPolicy=Background")

    def none_left() -> bool:
        api.delete(f"{pods(name)}?gracePeriodSeconds=0")
        return not api.get(pods(name))["items"]

    eventually(none_left, "all pods are gone", 60.0)


def example(name: str, without: str = "") -> list[dict[str, Any]]:
    """The objects of a file with all that is added to its one workload, but for one place."""
    bodies = list(yaml.safe_load_all((FILES / name).read_text()))
    for place, value in {**ADDED.get(name, {}), **OURS.get(name, {})}.items():
        if place != without:
            _put(bodies[0], place, value)
    return bodies


def _put(body: Any, place: str, value: Any) -> None:
    *way, last = place.split(".")
    for step in way:
        body = body[int(step)] if step.isdigit() else body.setdefault(step, {})
    assert last not in body, f"the example has {place} already"
    body[last] = deepcopy(value)


def apply(api: Api, space: str, *bodies: dict[str, Any]) -> None:
    """Create objects in their namespace, else in `space`."""
    for body in bodies:
        where = body["metadata"].get("namespace", space)
        api.create(PATHS[body["kind"]].format(where), body)


def granted(api: Api, space: str, count: int) -> list[tuple[str, list[int]]]:
    """(Node, devices) of the pods of a namespace, in order, once `count` of them run."""

    def ask() -> list[tuple[str, list[int]]]:
        running = [
            pod
            for pod in api.get(pods(space))["items"]
            if holds(pod) and pod["status"].get("phase") == "Running"
        ]
        found = [(pod["spec"]["nodeName"], _devices(pod)) for pod in running]
        return sorted(found) if len(found) == count else []

    return eventually(ask, f"{count} pods of {space} run")


def _devices(pod: dict[str, Any]) -> list[int]:
    text = pod["metadata"]["annotations"][DEVICES]
    return [int(one) for one in text.split(",")]


def leaf(node: str) -> int:
    """The leaf that a node of the fabric stands in: 4 nodes each, numbered through."""
    return int(node.removeprefix("gpu-")) // 4


def allocated(api: Api, space: str, name: str) -> list[dict[str, Any]]:
    """The allocations that the status of a claim names."""
    found = api.get(f"{claims(space)}/{name}").get("status", {}).get("allocations", [])
    return list(found)


@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, own in ADDED.items() for place in own]
)
def test_nothing_is_added_but_what_the_server_demands(
    api: Api, space: str, name: str, place: str
) -> None:
    """Without any one addition the API server refuses the example as invalid."""
    (body,) = example(name, without=place)
    with pytest.raises(ApiError) as refusal:
        api.create(f"{PATHS[body['kind']].format(space)}?dryRun=All", body)
    assert (refusal.value.status, refusal.value.reason) == (422, "Invalid")


def test_a_job_without_our_name_is_another_schedulers(api: Api, space: str) -> None:
    """The training Job says nothing of its pods; the API server gives them to the default."""
    (place,) = OURS["training.yaml"]
    (body,) = example("training.yaml", without=place)
    made = api.create(f"{PATHS['Job'].format(space)}?dryRun=All", body)
    assert made["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"


@pytest.mark.parametrize("name", ["job.yaml", "multi-gpu-job.yaml"])
def test_a_job_of_eight_stands_in_the_leaf_that_it_prefers(api: Api, space: str, name: str) -> None:
    """One pod has all devices of a node of leaf-1."""
    apply(api, space, *example(name))
    ((node, devices),) = granted(api, space, 1)
    assert (leaf(node), devices) == (1, list(range(8)))


@pytest.mark.parametrize(("name", "count"), [("single-gpu-job.yaml", 1), ("inference.yaml", 4)])
def test_less_than_a_node_gets_so_many_devices(api: Api, space: str, name: str, count: int) -> None:
    """The Job of one GPU and the inference service of four have as many, all different."""
    apply(api, space, *example(name))
    ((_, devices),) = granted(api, space, 1)
    assert len(set(devices)) == count


def test_training_on_sixteen_gpus_stays_in_one_leaf_of_its_spine(api: Api, space: str) -> None:
    """Four pods share 16 GPUs: two nodes, so one leaf, and that under spine-1."""
    apply(api, space, *example("training.yaml"))
    found = granted(api, space, 4)
    nodes = {node for node, _ in found}
    assert len(nodes) == 2
    assert len({leaf(node) for node in nodes}) == 1
    assert {leaf(node) // 2 for node in nodes} == {1}
    held = {(node, one) for node, devices in found for one in devices}
    assert len(held) == 16


def test_the_claim_of_one_device_and_its_pod(api: Api) -> None:
    """The container is pointed at what the scheduler writes; three more pods share no device."""
    name = {"name": "gpu-scheduler", "labels": {"topology.scheduler/enforce": "true"}}
    api.create("/api/v1/namespaces", {"metadata": name})
    try:
        claim, user = example("single-gpu.yaml")
        apply(api, "gpu-scheduler", claim, user)
        ((node, devices),) = granted(api, "gpu-scheduler", 1)
        assert len(devices) == 1
        pod = api.get(f"{pods('gpu-scheduler')}/gpu-test")
        assert variables(pod, ("containers",)) == [("cuda-test", SOURCE)]
        _check_claim(api, "gpu-scheduler", "single-gpu", "gpu-test", node, devices)
        for number in range(3):
            more = deepcopy(user)
            more["metadata"]["name"] = f"gpu-test-{number}"
            apply(api, "gpu-scheduler", more)
        found = granted(api, "gpu-scheduler", 4)
        assert len({(where, *own) for where, own in found}) == 4
    finally:
        _clear(api, "gpu-scheduler")


def test_the_claim_of_four_linked_devices(api: Api, space: str) -> None:
    """Four devices in a row with 600 GB/s between any two are on one node alone."""
    apply(api, space, *example("training-gpus.yaml"), USER)
    (found,) = granted(api, space, 1)
    assert found == (LINKED, [2, 3, 4, 5])
    _check_claim(api, space, "training-gpus", "trainer", *found)
    eventually(lambda: _lines_of_events(api, space, "gpu-scheduler"), "grep finds its events")


def _lines_of_events(api: Api, space: str, name: str) -> list[str]:
    """What `kubectl get events | grep NAME` prints: columns that it shows without `-o wide`."""
    path = f"/api/v1/namespaces/{space}/events"
    table = api.request("GET", path, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    shown = [not one["priority"] for one in table["columnDefinitions"]]
    lines = [" ".join(map(str, compress(row["cells"], shown))) for row in table["rows"]]
    return [line for line in lines if name in line]


def _check_claim(api: Api, space: str, name: str, pod: str, node: str, devices: list[int]) -> None:
    def told() -> bool:
        return [(one["pod"], one["node"]) for one in allocated(api, space, name)] == [(pod, node)]

    eventually(told, f"the status of {name} names the node of {pod}")
    assert allocated(api, space, name)[0]["devices"] == devices


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_gpus_are_given_out_as_their_device_plugin_shows_them(
    api: Api, space: str, name: str
) -> None:
    """A Job that asks for all parts of two nodes starts on both; the next one waits for it."""
    count = 2 * PARTS[name]
    apply(api, space, _of_parts("all", count, name))
    eventually(lambda: len(_nodes(api, space)) == count, f"{count} pods stand")
    apply(api, space, _of_parts("next", 1, name))
    eventually(lambda: _waits(api, space), "the next one is told that it waits")
    assert Counter(_nodes(api, space)) == {"parts-0": PARTS[name], "parts-1": PARTS[name]}


def _of_parts(name: str, count: int, part: str) -> dict[str, Any]:
    """The Job of the example with `count` pods of one part each."""
    (body,) = example("job.yaml")
    body["metadata"] = {"name": name}
    body["spec"] |= {"parallelism": count, "completions": count, "completionMode": "Indexed"}
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {part: "1"}}
    return body


def _waits(api: Api, space: str) -> bool:
    conditions = (
        (one["type"], one["status"])
        for pod in api.get(pods(space))["items"]
        for one in pod["status"].get("conditions", ())
    )
    return ("PodScheduled", "False") in conditions


def _nodes(api: Api, space: str) -> list[str]:
    """The nodes of all pods of a namespace that are bound."""
    found = (pod["spec"].get("nodeName") for pod in api.get(pods(space))["items"])
    return [node for node in found if node]


def test_the_pod_with_a_map_stands_on_its_first_line(api: Api, space: str) -> None:
    """Its name has no number, and the first line is free."""
    apply(api, space, *example("test-gpu-pod.yaml"))
    assert granted(api, space, 1) == [(f"{AKS}0", [0, 1])]


@pytest.mark.parametrize("name", ["scheduler-config.yaml", "topology-scheduler-config.yaml"])
def test_the_config_is_in_force(api: Api, replica: Replica, name: str) -> None:
    """Through its ConfigMap; the scheduler says that it reads it and finds nothing wrong."""
    text = (FILES / name).read_text()
    named = yaml.safe_load(text)["metadata"]["name"]
    api.create(CONFIG, {"metadata": {"name": named}, "data": {"config.yaml": text}})
    in_force = {"source": f"ConfigMap kube-system/{named}", "valid": True, "problems": []}

    def told(expected: Callable[[dict[str, Any]], bool]) -> bool:
        return expected((replica.get("/status") or {}).get("config", {}))

    eventually(lambda: told(lambda config: config == in_force), f"{named} is in force")
    api.delete(f"{CONFIG}/{named}")
    eventually(lambda: told(lambda config: config["source"] != in_force["source"]), "it is gone")


def test_every_example_is_tried() -> None:
    """No file lies beside the tests."""
    text = Path(__file__).read_text()
    assert [one.name for one in FILES.iterdir() if f'"{one.name}"' not in text] == []


def test_nothing_is_broken_in_the_end(api: Api) -> None:
    """Pages equal live pods, no device is shared, no gang lease is left over."""
    eventually(lambda: not breaches(api), "everything is at rest without a breach")
