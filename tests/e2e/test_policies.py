"""What ships as admission policies, against a tenant on a real apiserver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import account, applied
from tests.e2e.attacks import (
    ATTACKS,
    COMMIT,
    DEVICE_CLAIMS,
    DEVICES,
    LEASE,
    NODES,
    Attack,
    annotated,
    binding,
    committed,
    device_claim,
    pod,
)
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import Replica
from tests.e2e.tenancy import Stage, inventory, opted_in, stage_on, told, write_leases

EVERY = [
    pytest.param(attack, id=f"{policy}: {attack.name}")
    for policy, attacks in ATTACKS.items()
    for attack in attacks
]


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Everything is in force when the first test begins."""
    with stage_on(module_control_plane, tmp_path_factory.mktemp("accounts")) as stage:
        yield stage


@pytest.mark.parametrize("attack", EVERY)
def test_an_attack_is_refused_by_field(stage: Stage, attack: Attack) -> None:
    """The refusal names the field and gives advice, and nothing has changed."""
    before = stage.held()
    with pytest.raises(ApiError) as refused:
        attack.send(stage.tenant, stage.space, stage.elsewhere)
    assert refused.value.status == 403
    message = told(refused.value)
    assert message.startswith(attack.refused_for), refused.value
    assert ". " in message, "advice follows"
    assert stage.held() == before
    assert "nodeName" not in stage.admin.get(f"{stage.pods}/free")["spec"]
    assert "holderIdentity" not in stage.admin.get(f"{LEASE}/fourleaf-scheduler")["spec"]
    assert stage.admin.get(f"{LEASE}/page-held")["metadata"]["labels"]


@pytest.mark.parametrize("part", ["ephemeralcontainers", "resize"])
def test_other_parts_of_a_pod_carry_no_annotation(stage: Stage, part: str) -> None:
    """What a request to them says of devices is refused, or left out by the server itself."""
    before = stage.held()
    body = annotated("6,7")
    if part == "ephemeralcontainers":
        body["spec"] = {"ephemeralContainers": [{"name": f"debug-{part}", "image": "tools"}]}
    try:
        stage.tenant.patch(
            f"{stage.pods}/held/{part}", body, "application/strategic-merge-patch+json"
        )
    except ApiError as error:
        assert "metadata.annotations" in str(error)  # noqa: PT017 - either is right
    assert stage.held()["annotations"] == before["annotations"]


def test_an_agent_writes_of_its_own_node_alone(stage: Stage) -> None:
    """Its own inventory and status pass; those of gpu-0 are refused, made, changed or deleted."""
    own, status = stage.agents["gpu-1"], {"status": {"source": "file"}}
    applied(own, f"{NODES}/gpu-1", inventory("gpu-1"))
    applied(own, f"{NODES}/gpu-1/status", {**inventory("gpu-1"), **status})
    for path in (f"{NODES}/gpu-0", f"{NODES}/gpu-0/status", f"{NODES}/gpu-2"):
        name = path.removeprefix(f"{NODES}/").partition("/")[0]
        labelled = inventory(name)
        labelled["metadata"]["labels"] = {"forged": "true"}
        with pytest.raises(ApiError, match=f"agent of node gpu-1 may not write of node {name}"):
            applied(own, path, {**labelled, **status})


def test_an_agent_without_a_pod_writes_nothing(stage: Stage) -> None:
    """A token that says no node, as one that was asked for by hand, is good for nothing."""
    with pytest.raises(ApiError, match="agent of no node may not write of node gpu-2"):
        applied(stage.agents[""], f"{NODES}/gpu-2", inventory("gpu-2"))


def test_what_is_left_of_a_node_can_be_removed(stage: Stage) -> None:
    """Whoever runs the cluster may delete the inventory of a node that is gone."""
    (old,) = [stage.agents["gpu-1"]]
    applied(old, f"{NODES}/gpu-1", inventory("gpu-1"))
    stage.admin.delete(f"{NODES}/gpu-1")


def test_a_tenant_goes_about_its_own_business(stage: Stage) -> None:
    """Pods for our scheduler, also with RDMA; pods without GPUs for another; labels; an end."""
    tenant, pods = stage.tenant, stage.pods
    tenant.create(pods, pod("mine", "8"))
    tenant.create(pods, pod("plain", scheduler="default-scheduler"))
    cards = [{"name": "ib", "hostPath": {"path": "/dev/infiniband"}}]
    locked = pod("there", "8", volumes=cards)
    (container,) = locked["spec"]["containers"]
    container["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    tenant.create(pods, locked)
    elsewhere = f"/api/v1/namespaces/{stage.elsewhere}/pods"
    tenant.create(elsewhere, pod("there", scheduler="default-scheduler", nodeName="gpu-9"))
    tenant.delete(f"{elsewhere}/there?gracePeriodSeconds=0")
    marks = {"metadata": {"labels": {"own": "1"}, "annotations": {"own": "1"}}}
    for name in ("mine", "held"):
        tenant.patch(f"{pods}/{name}", marks, MERGE_PATCH)
    condition = {"type": "own", "status": "True"}
    tenant.patch(f"{pods}/held/status", {"status": {"conditions": [condition]}}, MERGE_PATCH)
    claims = DEVICE_CLAIMS.format(space=stage.space)
    tenant.create(claims, device_claim("own", annotations={"own": "1"}))
    for name in ("own", "held"):
        tenant.patch(f"{claims}/{name}", marks, MERGE_PATCH)
    tenant.delete(f"{claims}/own")
    for name in ("mine", "plain", "there"):
        tenant.delete(f"{pods}/{name}?gracePeriodSeconds=0")
    tenant.create(LEASE, {"metadata": {"name": "of-a-tenant"}})
    tenant.delete(f"{LEASE}/of-a-tenant")


def test_a_daemon_set_does_not_get_round_it(stage: Stage, tmp_path: Path) -> None:
    """Its controller makes what the tenant's template says, and is refused like the tenant.

    A template without GPUs, such as that of a device plugin, may name a node.
    """
    who = ("kube-system", "daemon-set-controller")
    with suppress(ApiError):
        path = f"/api/v1/namespaces/{who[0]}/serviceaccounts"
        stage.admin.create(path, {"metadata": {"name": who[1]}})
    reference = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "system:aggregate-to-edit",
    }
    subjects = [{"kind": "ServiceAccount", "namespace": who[0], "name": who[1]}]
    body = {"metadata": {"name": "controller"}, "roleRef": reference, "subjects": subjects}
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{stage.elsewhere}/rolebindings"
    stage.admin.create(rbac, body)
    pods = f"/api/v1/namespaces/{stage.elsewhere}/pods?dryRun=All"
    with Api(account(stage.plane, who, tmp_path)) as controller:
        plain = pod("plugin", scheduler="default-scheduler", nodeName="gpu-0")
        eventually(lambda: controller.create(pods, plain), "the controller has its rights")
        with pytest.raises(ApiError, match=r"spec\.nodeName: a pod with GPUs"):
            controller.create(pods, pod("set", "8", "default-scheduler", nodeName="gpu-0"))


def test_the_scheduler_marks_claims(stage: Stage) -> None:
    """It sets a commit, changes it and takes it off again."""
    claim = DEVICE_CLAIMS.format(space=stage.space) + "/free"
    for value in ("c2", "c3", None):
        done = stage.scheduler.patch(claim, committed(value), MERGE_PATCH)
        assert (done["metadata"].get("annotations") or {}).get(COMMIT) == value


@pytest.mark.parametrize(
    ("name", "part", "change", "field"),
    [
        ("other", "", annotated("0"), r"spec\.schedulerName"),
        ("free", "", {"spec": {"containers": [{"name": "main", "image": "mine"}]}}, "spec"),
        ("free", "", {"metadata": {"labels": {"own": "1"}}}, "spec"),
        ("free", "", {"metadata": {"annotations": {"own": "1"}}}, r"metadata\.annotations"),
        ("free", "/status", {"status": {"phase": "Failed"}}, "status"),
    ],
)
def test_the_scheduler_changes_no_more_of_a_pod_than_it_says(
    stage: Stage, name: str, part: str, change: dict[str, Any], field: str
) -> None:
    """Its right to patch pods ends at its own names, annotations and conditions."""
    if name == "other":
        with suppress(ApiError):
            stage.admin.create(stage.pods, pod("other", scheduler="default-scheduler"))
    kind = "application/strategic-merge-patch+json"
    with pytest.raises(ApiError, match=f"{field}: the scheduler"):
        stage.scheduler.patch(f"{stage.pods}/{name}{part}?dryRun=All", change, kind)
    condition = {"type": "PodScheduled", "status": "False", "reason": "x"}
    said = {"status": {"conditions": [condition]}}
    stage.scheduler.patch(f"{stage.pods}/free/status?dryRun=All", said, kind)
    stage.scheduler.patch(f"{stage.pods}/free?dryRun=All", annotated("0"), kind)


def test_elsewhere_another_scheduler_gives_gpus(stage: Stage) -> None:
    """In a namespace that has not opted in; kube-scheduler binds there, as do those with leave."""
    space = stage.admin.new_namespace()
    pods = f"/api/v1/namespaces/{space}/pods"
    stage.admin.create(pods, pod("x", "1", "default-scheduler"))
    with stage.plane.api("kube-scheduler") as other:
        other.create(f"{pods}/x/binding?dryRun=All", binding("x"))


def test_another_scheduler_is_let_in_by_rbac(stage: Stage) -> None:
    """The ClusterRole that ships lets its subject bind; devices stay out of its reach."""
    rbac = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    reference = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "fourleaf-other-scheduler",
    }
    subjects = [stage.plane.subject("tenant")]
    body = {"metadata": {"name": "other"}, "roleRef": reference, "subjects": subjects}
    stage.admin.create(rbac, body)
    path = f"{stage.pods}/free/binding?dryRun=All"
    try:
        eventually(lambda: stage.tenant.create(path, binding("free")), "it may bind")
        with pytest.raises(ApiError, match="only the scheduler sets"):
            stage.tenant.create(path, binding("free", annotations={DEVICES: "0"}))
    finally:
        stage.admin.delete(f"{rbac}/other")

    def is_out() -> bool:
        try:
            stage.tenant.create(path, binding("free"))
        except ApiError as error:
            return "target.name" in str(error)
        return False

    eventually(is_out, "it may bind no more")


def test_the_server_finds_the_expressions_sound(stage: Stage) -> None:
    """It checks their types against the kinds that they are for, and warns of none."""
    if not isinstance(stage.plane, ControlPlane):
        pytest.skip("whether that cluster runs the controller that checks is not ours to say")
    stage.plane.controller_manager(controllers=["validatingadmissionpolicy-status-controller"])
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    def checked() -> list[dict[str, Any]]:
        items = stage.admin.get(path)["items"]
        done = all(one.get("status", {}).get("observedGeneration") for one in items)
        return items if done else []

    for one in eventually(checked, "all are checked"):
        assert one["status"].get("typeChecking") == {}, one["metadata"]["name"]


def test_the_whole_protocol_passes(stage: Stage, tmp_path: Path) -> None:
    """Under its own account the scheduler leads, and binds a gang of eight over two leaves."""
    space = opted_in(stage.admin)
    pods = f"/api/v1/namespaces/{space}/pods"
    marks = {"topology.scheduler/gang": "wide", "topology.scheduler/gang-size": "8"}
    # The Leases of the stage are no records of a scheduler.
    for name in ("page-held", "fourleaf-scheduler"):
        stage.scheduler.delete(f"{LEASE}/{name}")
    try:
        with Replica(stage.plane, "admin", tmp_path, kubeconfig=stage.kubeconfig) as replica:
            eventually(lambda: replica.leads, "it leads")
            for index in range(8):
                body = pod(f"wide-{index}", "8")
                body["metadata"]["annotations"] = marks
                stage.admin.create(pods, body)
            eventually(lambda: all(map(holds, stage.admin.get(pods)["items"])), "all are bound")
            nodes = {one["spec"]["nodeName"] for one in stage.admin.get(pods)["items"]}
            assert len(nodes) == 8
            eventually(lambda: not breaches(stage.admin), "at rest without a breach")
            assert not [line for line in replica.lines() if "ValidatingAdmission" in str(line)]
    finally:
        for one in stage.admin.get(LEASE)["items"]:
            stage.scheduler.delete(f"{LEASE}/{one['metadata']['name']}")
        write_leases(stage.scheduler)
