"""Device maps on a real apiserver: who is mapped gets that node and those devices."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run, _run  # noqa: F401 - a fixture by name
from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_nodes, wait_usable
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import POLICIES, RBAC, SCHEDULER, account, install, uninstall
from tests.e2e.checker import DEVICES, breaches, holds
from tests.e2e.replica import ROOT, Replica

AKS = "aks-workerpool-25338008-vmss00000"
NUMBERS = (0, 1, 3, 4, 5)
"""Nodes of four devices each; the documented maps name all but the last."""
SILENT = f"{AKS}7"
"""A node on which no device plugin announces anything."""
TIDY = 60.0
DOCUMENTED = {
    0: (f"{AKS}0", "0,1"),
    1: (f"{AKS}1", "2"),
    2: (f"{AKS}3", "0,1,2"),
    3: (f"{AKS}4", "3"),
}


@pytest.fixture(scope="module")
def scheduled(
    module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plane]:
    """The nodes of the documented maps, controllers, kubelets, and one replica.

    No label of the nodes names a leaf: so AKS makes them. The replica runs under its own account,
    with its rights and the admission policies that ship. No webhook runs.
    """
    plane = module_control_plane
    if plane.managed:
        plane.controller_manager()
    plane.kwok()
    bodies = Fleet(len(NUMBERS) + 1, gpus=4).objects(ready=False)
    del bodies[-1]["status"]["allocatable"]["nvidia.com/gpu"]
    for number, body in zip((*NUMBERS, 7), bodies, strict=True):
        body["metadata"]["name"] = f"{AKS}{number}"
        body["metadata"]["labels"] = {"kubernetes.io/hostname": f"{AKS}{number}"}
    asyncio.run(create_nodes(plane.kubeconfig(), bodies))
    folder = tmp_path_factory.mktemp("replica")
    with plane.api() as api:
        made = install(api, RBAC / "scheduler.yaml", *POLICIES)
        wait_usable(api, [body["metadata"]["name"] for body in bodies])
        kubeconfig = account(plane, SCHEDULER, folder)
        with Replica(plane, "admin", folder, kubeconfig=kubeconfig) as replica:
            eventually(lambda: replica.leads, "the replica leads")
            yield plane
        uninstall(api, made)


@pytest.fixture
def api(scheduled: Plane) -> Iterator[Api]:
    """The API, as its owner."""
    with scheduled.api() as api:
        yield api


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    """A namespace whose pods are gone when the test has ended."""
    name = api.new_namespace()
    yield name
    for kind in ("statefulsets", "deployments"):
        api.delete(f"/apis/apps/v1/namespaces/{name}/{kind}")
    pods = f"/api/v1/namespaces/{name}/pods"

    def none_left() -> bool:
        api.delete(pods)
        return not api.get(pods)["items"]

    eventually(none_left, "all pods are gone", TIDY)


def granted(api: Api, namespace: str) -> dict[str, tuple[str, str]]:
    """Pod -> node and devices of the pods that are bound."""
    return {
        pod["metadata"]["name"]: (
            pod["spec"]["nodeName"],
            (pod["metadata"].get("annotations") or {}).get(DEVICES, ""),
        )
        for pod in api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        if holds(pod)
    }


def why(api: Api, namespace: str, name: str) -> str:
    """What the pod's conditions say."""
    status = api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["status"]
    return " ".join(one.get("message", "") for one in status.get("conditions", []))


def check_service(**changes: Any) -> dict[str, Any]:
    """The StatefulSet that ships, with another map or number of replicas."""
    path = ROOT / "deploy" / "check" / "statefulset.yaml"
    body: dict[str, Any] = list(yaml.safe_load_all(path.read_text()))[1]
    if "map" in changes:
        annotations = body["spec"]["template"]["metadata"]["annotations"]
        annotations["gpu-scheduling-map"] = changes["map"]
    body["spec"]["replicas"] = changes.get("replicas", body["spec"]["replicas"])
    return body


def test_the_two_pods_of_the_documentation(api: Api, namespace: str) -> None:
    """gpu-test-0 and gpu-test-1 are applied as they stand, and each gets its line."""
    text = (ROOT / "docs" / "examples" / "device-map.yaml").read_text()
    for body in yaml.safe_load_all(text):
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)
    expected = {f"gpu-test-{index}": DOCUMENTED[index] for index in (0, 1)}
    eventually(lambda: granted(api, namespace) == expected, f"{expected} is granted")


def test_the_check_service(api: Api, namespace: str) -> None:
    """All pods of the StatefulSet that ships get the nodes and devices of the map."""
    api.create(f"/apis/apps/v1/namespaces/{namespace}/statefulsets", check_service())
    expected = {f"gpu-scheduler-check-{index}": place for index, place in DOCUMENTED.items()}
    eventually(lambda: granted(api, namespace) == expected, f"{expected} is granted")
    eventually(lambda: not breaches(api), "at rest without a breach")


def test_a_node_without_a_device_plugin_is_used_by_maps(api: Api, namespace: str) -> None:
    """The pod of a line gets node and devices; one that asks by resource is told why it waits."""
    text = (ROOT / "docs" / "examples" / "device-map.yaml").read_text()
    first, second = yaml.safe_load_all(text)
    for body in (first, second):
        body["metadata"]["annotations"]["gpu-scheduling-map"] = f"0={SILENT}:0,1\n1={SILENT}:3\n"
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    second["spec"]["containers"][0]["resources"] = limits
    for body in (first, second):
        api.create(f"/api/v1/namespaces/{namespace}/pods", body)
    expected = {"gpu-test-0": (SILENT, "0,1")}
    eventually(lambda: granted(api, namespace) == expected, f"{expected} is granted")
    said = "1 node whose GPUs no device plugin announces"
    eventually(lambda: said in why(api, namespace, "gpu-test-1"), "the other is told why it waits")
    eventually(lambda: not breaches(api), "at rest without a breach")


def test_two_lines_with_one_device_never_share_it(api: Api, namespace: str) -> None:
    """Line 4 names the device of line 3, so one of both waits and says why."""
    lines = "".join(f"{i}={node}:{devices}\n" for i, (node, devices) in DOCUMENTED.items())
    body = check_service(map=f"{lines}4={AKS}4:3\n", replicas=5)
    api.create(f"/apis/apps/v1/namespaces/{namespace}/statefulsets", body)
    eventually(lambda: len(granted(api, namespace)) == 4, "four of five are bound")
    names = {f"gpu-scheduler-check-{index}" for index in range(5)}
    (waits,) = names - granted(api, namespace).keys()
    assert waits[-1] in "34"
    eventually(lambda: f"{AKS}4" in why(api, namespace, waits), "it names the node that is taken")
    held = list(granted(api, namespace).values())
    assert held.count((f"{AKS}4", "3")) == 1
    (holder,) = (name for name, place in granted(api, namespace).items() if place[0] == f"{AKS}4")
    assert {holder, waits} == {"gpu-scheduler-check-3", "gpu-scheduler-check-4"}


def test_the_pods_of_a_deployment_share_out_the_lines(api: Api, namespace: str) -> None:
    """They have no numbers; each gets a line of its own, and so does one that is made anew."""
    template = check_service()["spec"]["template"]
    body = {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": template["metadata"]["labels"]},
            "template": template,
        },
    }
    api.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", body)
    expected = sorted(DOCUMENTED[index] for index in range(3))

    def all_have_lines() -> bool:
        return sorted(granted(api, namespace).values()) == expected

    eventually(all_have_lines, "the first three lines are granted")
    second = next(name for name, place in granted(api, namespace).items() if place == DOCUMENTED[1])
    # Gone at once: while it ended, its line would be held, and the new pod could get the fourth.
    api.delete(f"/api/v1/namespaces/{namespace}/pods/{second}?gracePeriodSeconds=0")
    eventually(
        lambda: second not in granted(api, namespace) and all_have_lines(),
        "another pod has the second line",
    )


def test_a_map_is_fixed_where_it_stands(
    scheduled: Plane,
    api: Api,
    namespace: str,
    run: Run,
) -> None:
    """The node of line 1 is gone; the verb puts in another, and the pods run."""
    body = check_service(map=f"0={AKS}0:0\n1={AKS}9:2\n", replicas=2)
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    api.create(path, body)
    reach = ("-n", namespace, "--kubeconfig", scheduled.kubeconfig())
    words = ("sts/gpu-scheduler-check", *reach)
    assert run("map", "check", *words).exit_code == 2
    fixed = run("map", "fix", *words, "--apply")
    assert fixed.exit_code == 0, fixed.output
    assert run("map", "check", *words).exit_code == 0
    template = api.get(f"{path}/gpu-scheduler-check")["spec"]["template"]
    text = template["metadata"]["annotations"]["gpu-scheduling-map"]
    assert text == f"0={AKS}0:0\n1={AKS}1:2\n"
    expected = {
        "gpu-scheduler-check-0": (f"{AKS}0", "0"),
        "gpu-scheduler-check-1": (f"{AKS}1", "2"),
    }
    eventually(lambda: granted(api, namespace) == expected, f"{expected} is granted", TIDY)


def test_a_map_is_made_from_the_live_nodes(scheduled: Plane, api: Api, run: Run) -> None:
    """Five nodes of four devices have ten pairs."""
    words = ("--devices", 2, "-o", "annotation", "--busy")
    result = run("map", "generate", "--kubeconfig", scheduled.kubeconfig(), *words)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 10
    assert result.stdout.startswith(f"0={AKS}0:0,1\n1={AKS}0:2,3\n2={AKS}1:0,1\n")


def test_nodes_that_name_no_leaf_are_told_on_the_config(run: Run, scheduled: Plane) -> None:
    """All stand in one leaf: an event, the status and the check of the topology say so.

    The event has the number of the moment when it was written: five, or six where that was while a
    map named devices of the silent node.
    """
    with scheduled.api() as api:

        def told() -> list[str]:
            events = api.get("/apis/events.k8s.io/v1/namespaces/kube-system/events")["items"]
            return [one["note"] for one in events if one["reason"] == "TopologyIncomplete"]

        (note,) = eventually(told, "the event is written")
    assert re.search("no GPU node has a known label, so all [56] stand in one leaf", note)
    where = ("--kubeconfig", scheduled.kubeconfig())
    status = run("status", *where)
    assert "none names a leaf, so all stand in one" in status.stdout
    assert "1 more without GPUs" in status.stdout
    checked = run("topology", "check", *where)
    assert (checked.exit_code, "FlatFabric" in checked.stdout) == (3, True)
