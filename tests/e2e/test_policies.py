"""What ships as admission policies, against a tenant on a real apiserver.

The tenant may edit its namespace, and has been given more than that by mistake: the status,
bindings and ephemeral containers of pods, Leases, inventories and the status of claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from model.crds.definitions import definitions
from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.accounts import (
    AGENT,
    POLICIES,
    RBAC,
    SCHEDULER,
    account,
    applied,
    install,
    uninstall,
)
from tests.e2e.attacks import (
    ATTACKS,
    CLAIMS,
    DEVICES,
    LEASE,
    NODES,
    Attack,
    annotated,
    binding,
    pod,
)
from tests.e2e.checker import breaches, holds
from tests.e2e.replica import Replica

MISTAKES = [
    {
        "apiGroups": [""],
        "resources": [
            "pods/status",
            "pods/binding",
            "bindings",
            "pods/ephemeralcontainers",
            "pods/resize",
        ],
        "verbs": ["*"],
    },
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
    {
        "apiGroups": ["gpu.scheduling"],
        "resources": [
            "gpunodestatuses",
            "gpunodestatuses/status",
            "gpuclaims",
            "gpuclaims/status",
        ],
        "verbs": ["*"],
    },
]
EVERY = [
    pytest.param(attack, id=f"{policy}: {attack.name}")
    for policy, attacks in ATTACKS.items()
    for attack in attacks
]


@dataclass(frozen=True)
class Stage:
    """A cluster with the policies, a namespace that has opted in, and one `elsewhere`.

    In the first: pod `held`, which has devices 0 and 1 of gpu-0; pod `free`, which waits; a
    claim. In kube-system a page and the leader's Lease. gpu-0 has an inventory.
    """

    plane: Plane
    space: str
    elsewhere: str
    admin: Api
    tenant: Api
    scheduler: Api
    agents: dict[str, Api]
    kubeconfig: Path

    @property
    def pods(self) -> str:
        """The path of the pods of the namespace."""
        return f"/api/v1/namespaces/{self.space}/pods"

    def held(self) -> dict[str, Any]:
        """The metadata and spec of the pod that has devices."""
        body = self.admin.get(f"{self.pods}/held")
        return {"annotations": body["metadata"]["annotations"], "spec": body["spec"]}


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Everything is in force when the first test begins."""
    plane = module_control_plane
    folder = tmp_path_factory.mktemp("accounts")
    create_fleet(plane.kubeconfig(), Fleet(16))
    with plane.api() as admin, plane.api("tenant") as tenant:
        for one in definitions():
            admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", one)
        made = install(admin, RBAC / "scheduler.yaml", RBAC / "agent.yaml")
        space, elsewhere = _space(admin), admin.new_namespace()
        _make_mistakes(plane, admin, space, elsewhere)
        agents = {node: Api(_agent(plane, admin, node, folder)) for node in ("gpu-0", "gpu-1")}
        agents[""] = Api(account(plane, AGENT, folder))
        kubeconfig = account(plane, SCHEDULER, folder)
        scheduler = Api(kubeconfig)
        stage = Stage(plane, space, elsewhere, admin, tenant, scheduler, agents, kubeconfig)
        eventually(lambda: admin.get(NODES), "our kinds are served")
        _lay_out(stage)
        made += install(admin, *POLICIES)
        for attacks in ATTACKS.values():
            eventually(
                lambda attack=attacks[0]: _is_refused(stage, attack),  # type: ignore[misc]
                f"{attacks[0].path} is refused to the tenant",
            )
        yield stage
        for api in (scheduler, *agents.values()):
            api.close()
        uninstall(admin, made)


def _space(admin: Api) -> str:
    labels = {"topology.scheduler/enforce": "true"}
    made = admin.create(
        "/api/v1/namespaces", {"metadata": {"generateName": "fourleaf-test-", "labels": labels}}
    )
    return str(made["metadata"]["name"])


def _make_mistakes(plane: Plane, admin: Api, *spaces: str) -> None:
    """Give the tenant the rights of `edit` in its namespaces, and too many everywhere.

    The parts of `edit` are bound one by one: the role itself is put together by a controller.
    """
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    group = "rbac.authorization.k8s.io"
    subjects = [plane.subject("tenant")]
    admin.create(f"{rbac}/clusterroles", {"metadata": {"name": "mistakes"}, "rules": MISTAKES})
    for name in ("system:aggregate-to-edit", "system:aggregate-to-view"):
        reference = {"apiGroup": group, "kind": "ClusterRole", "name": name}
        body = {"metadata": {"name": name.rpartition("-")[2]}, "roleRef": reference}
        for space in spaces:
            path = f"{rbac}/namespaces/{space}/rolebindings"
            admin.create(path, {**body, "subjects": subjects})
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": "mistakes"}
    body = {"metadata": {"name": "mistakes"}, "roleRef": reference, "subjects": subjects}
    admin.create(f"{rbac}/clusterrolebindings", body)


def _agent(plane: Plane, admin: Api, node: str, folder: Path) -> Path:
    """The agent of `node`, with the token of its own pod."""
    body = pod(f"agent-{node}", scheduler="", nodeName=node, serviceAccountName=AGENT[1])
    made = admin.create(f"/api/v1/namespaces/{AGENT[0]}/pods", body)
    return account(plane, AGENT, folder, made)


def _lay_out(stage: Stage) -> None:
    admin, scheduler = stage.admin, stage.scheduler
    for name in ("held", "free"):
        body = pod(name, "2")
        body["metadata"]["annotations"] = {"own": "0"}
        admin.create(stage.pods, body)
    eventually(
        lambda: scheduler.create(
            f"{stage.pods}/held/binding", binding("held", annotations={DEVICES: "0,1"})
        ),
        "the scheduler has its rights",
    )
    labels = {"alloc.gpu.scheduling/record": "other"}
    scheduler.create(LEASE, {"metadata": {"name": "page-held", "labels": labels}})
    scheduler.create(LEASE, {"metadata": {"name": "fourleaf-scheduler"}, "spec": {}})
    claim = {"metadata": {"name": "claim"}, "spec": {"devices": {"count": 1}}}
    admin.create(
        CLAIMS.format(space=stage.space),
        {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", **claim},
    )
    eventually(lambda: applied(stage.agents["gpu-0"], f"{NODES}/gpu-0", inventory("gpu-0")), "gns")


def inventory(node: str) -> dict[str, Any]:
    """The inventory of `node`, without devices."""
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": node},
    }


def told(error: ApiError) -> str:
    """What a policy says, "" where none has spoken."""
    return str(error).partition("denied request: ")[2]


def _is_refused(stage: Stage, attack: Attack) -> bool:
    try:
        attack.send(stage.tenant, stage.space, stage.elsewhere, dry_run=True)
    except ApiError as error:
        if told(error).startswith(attack.refused_for):
            return True
        raise
    return False


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
    """Pods for our scheduler, pods without GPUs for another, labels of one's own, an end."""
    tenant, pods = stage.tenant, stage.pods
    tenant.create(pods, pod("mine", "8"))
    tenant.create(pods, pod("plain", scheduler="default-scheduler"))
    tenant.create(pods, pod("there", scheduler="default-scheduler", nodeName="gpu-9"))
    marks = {"metadata": {"labels": {"own": "1"}, "annotations": {"own": "1"}}}
    for name in ("mine", "held"):
        tenant.patch(f"{pods}/{name}", marks, MERGE_PATCH)
    condition = {"type": "own", "status": "True"}
    tenant.patch(f"{pods}/held/status", {"status": {"conditions": [condition]}}, MERGE_PATCH)
    for name in ("mine", "plain", "there"):
        tenant.delete(f"{pods}/{name}?gracePeriodSeconds=0")
    tenant.create(LEASE, {"metadata": {"name": "of-a-tenant"}})
    tenant.delete(f"{LEASE}/of-a-tenant")


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


def test_the_whole_protocol_passes(stage: Stage, tmp_path: Path) -> None:
    """Under its own account the scheduler leads, and binds a gang of eight over two leaves."""
    space = _space(stage.admin)
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
        labels = {"alloc.gpu.scheduling/record": "other"}
        stage.scheduler.create(LEASE, {"metadata": {"name": "page-held", "labels": labels}})
        stage.scheduler.create(LEASE, {"metadata": {"name": "fourleaf-scheduler"}, "spec": {}})
