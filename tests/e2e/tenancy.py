"""A tenant on a cluster with the policies and the rights that ship, and what it may do there.

It may edit its namespaces, and has been given more than that by mistake: the status, bindings
and ephemeral containers of pods, Leases, inventories, ResourceClaims and the status of claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourleaf.model.crds.definitions import definitions
from tests.controlplane.api import MERGE_PATCH, Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually, serve
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
    DEVICE_CLAIMS,
    DEVICES,
    LEASE,
    NODES,
    Attack,
    binding,
    committed,
    device_claim,
    pod,
)

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
    {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceclaims", "resourceclaims/status"],
        "verbs": ["*"],
    },
]


@dataclass(frozen=True)
class Stage:
    """A cluster with the policies, a namespace that has opted in, and one `elsewhere`.

    In the first: pod `held`, which has devices 0 and 1 of gpu-0; pod `free`, which waits; a
    claim; ResourceClaim `held` with the commit that gave it devices, and `free`. In kube-system a
    page and the leader's Lease. gpu-0 has an inventory.
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
        """The metadata and spec of the pod that has devices, and what claims are marked with."""
        body = self.admin.get(f"{self.pods}/held")
        claims = self.admin.get(DEVICE_CLAIMS.format(space=self.space))["items"]
        marks = {one["metadata"]["name"]: one["metadata"].get("annotations") for one in claims}
        annotations = body["metadata"]["annotations"]
        return {"annotations": annotations, "spec": body["spec"], "claims": marks}


@contextmanager
def stage_on(plane: Plane, folder: Path) -> Iterator[Stage]:
    """Lay everything out on `plane`, with every policy in force; credentials go to `folder`."""
    create_fleet(plane.kubeconfig(), Fleet(16))
    with plane.api() as admin, plane.api("tenant") as tenant:
        serve(admin, definitions())
        made = install(admin, RBAC / "scheduler.yaml", RBAC / "agent.yaml")
        space, elsewhere = opted_in(admin), admin.new_namespace()
        _make_mistakes(plane, admin, space, elsewhere)
        agents = {node: Api(_agent(plane, admin, node, folder)) for node in ("gpu-0", "gpu-1")}
        agents[""] = Api(account(plane, AGENT, folder))
        kubeconfig = account(plane, SCHEDULER, folder)
        scheduler = Api(kubeconfig)
        stage = Stage(plane, space, elsewhere, admin, tenant, scheduler, agents, kubeconfig)
        _lay_out(stage)
        made += install(admin, *POLICIES)
        for attacks in ATTACKS.values():
            eventually(
                lambda attack=attacks[0]: _is_refused(stage, attack),  # type: ignore[misc]
                f"{attacks[0].path} is refused to the tenant",
            )
        eventually(lambda: _is_kept_from_images(stage), "the scheduler's account is bounded")
        yield stage
        for api in (scheduler, *agents.values()):
            api.close()
        uninstall(admin, made)


def opted_in(admin: Api) -> str:
    """Make a namespace that has opted in, and tell its name."""
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
        # No scheduler that a test starts is to find a node for the one that is to wait.
        selector = {"kubernetes.io/hostname": "nowhere"} if name == "free" else {}
        body = pod(name, "2", nodeSelector=selector)
        body["metadata"]["annotations"] = {"own": "0"}
        admin.create(stage.pods, body)
    eventually(
        lambda: scheduler.create(
            f"{stage.pods}/held/binding", binding("held", annotations={DEVICES: "0,1"})
        ),
        "the scheduler has its rights",
    )
    write_leases(scheduler)
    claims = DEVICE_CLAIMS.format(space=stage.space)
    for name in ("held", "free"):
        admin.create(claims, device_claim(name))
    eventually(
        lambda: scheduler.patch(f"{claims}/held", committed("c1"), MERGE_PATCH),
        "the scheduler writes on claims",
    )
    claim = {"metadata": {"name": "claim"}, "spec": {"devices": {"count": 1}}}
    admin.create(
        CLAIMS.format(space=stage.space),
        {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", **claim},
    )
    eventually(lambda: applied(stage.agents["gpu-0"], f"{NODES}/gpu-0", inventory("gpu-0")), "gns")


def write_leases(scheduler: Api) -> None:
    """Write a page, and the leader's Lease; neither says anything."""
    labels = {"alloc.gpu.scheduling/record": "other"}
    scheduler.create(LEASE, {"metadata": {"name": "page-held", "labels": labels}})
    scheduler.create(LEASE, {"metadata": {"name": "fourleaf-scheduler"}, "spec": {}})


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


def _is_kept_from_images(stage: Stage) -> bool:
    """Whether the policy on the scheduler's account is in force: no attack of a tenant shows it."""
    change = {"spec": {"containers": [{"name": "main", "image": "mine"}]}}
    kind = "application/strategic-merge-patch+json"
    try:
        stage.scheduler.patch(f"{stage.pods}/free?dryRun=All", change, kind)
    except ApiError as error:
        if ": the scheduler" in str(error):
            return True
        raise
    return False


def _is_refused(stage: Stage, attack: Attack) -> bool:
    try:
        attack.send(stage.tenant, stage.space, stage.elsewhere, dry_run=True)
    except ApiError as error:
        if told(error).startswith(attack.refused_for):
            return True
        raise
    return False
