"""A cluster with what ships, a scheduler under its own account, and a tenant beside honest ones.

The tenant has the rights of `admin` in its namespaces, and over the kinds that make gangs there.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.tenants.measure import shipped_config
from fourleaf.k8s_bridge.cluster.memory.actors import gang
from fourleaf.model.crds.definitions import definitions
from tests.controlplane import flags
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually, serve
from tests.e2e.accounts import POLICIES, RBAC, SCHEDULER, account, allowed, install, uninstall
from tests.e2e.replica import ROOT, Replica

Body = dict[str, Any]
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
LEAD = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fourleaf-scheduler"
VOLCANO = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"
GROUP = "scheduling.k8s.io/group-name"
RECORDS = (
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    "?labelSelector=alloc.gpu.scheduling/record="
)
AT_ONCE = 6
"""Requests of the tenant under way at a time."""
KINDS = {
    "scheduling.volcano.sh": ["podgroups"],
    "gpu.scheduling": ["gpuclaims"],
    "jobset.x-k8s.io": ["jobsets"],
}
"""API group -> kinds that a tenant makes gangs of, beside those of Kubernetes itself."""


@dataclass(frozen=True)
class Stage:
    """`admin` runs the cluster and honest gangs; `tenant` has `space` and no more."""

    plane: Plane
    admin: Api
    tenant: Api
    replica: Replica
    space: str

    def honest(self) -> str:
        """A namespace of another tenant."""
        return self.admin.new_namespace()

    def post(self, bodies: Iterable[Body]) -> None:
        """Create pods as the tenant, some at once. Raises `ApiError` where one is refused."""
        waiting: queue.SimpleQueue[Body] = queue.SimpleQueue()
        failed: list[ApiError] = []
        for body in bodies:
            waiting.put(body)
        # Written anew each time that it is asked for.
        kubeconfig = self.plane.kubeconfig("tenant")

        def work() -> None:
            with Api(kubeconfig) as api:
                while not waiting.empty() and not failed:
                    try:
                        api.create(pods(self.space), waiting.get_nowait())
                    except queue.Empty:
                        return
                    except ApiError as error:
                        failed.append(error)

        workers = [threading.Thread(target=work) for _ in range(AT_ONCE)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failed:
            raise failed[0]

    def submit(self, space: str, bodies: Iterable[Body]) -> None:
        """Create the pods of others."""
        for body in bodies:
            self.admin.create(pods(space), body)

    def bound(self, space: str, prefix: str = "") -> list[str]:
        """The names of pods that have a node."""
        items = self.admin.get(pods(space))["items"]
        named = (one for one in items if one["metadata"]["name"].startswith(prefix))
        return sorted(one["metadata"]["name"] for one in named if one["spec"].get("nodeName"))

    def wait_bound(self, space: str, count: int, prefix: str = "", patience: float = 40) -> None:
        """Wait until so many pods have a node."""
        eventually(
            lambda: len(self.bound(space, prefix)) >= count,
            f"{count} of {prefix or 'all'} in {space} are bound",
            patience,
        )

    def bind_some(self, space: str, name: str, gangs: int = 4, patience: float = 40) -> None:
        """Submit gangs of two whole nodes, and see them all bound in time."""
        bodies = [body for i in range(gangs) for body in gang(f"{name}{i}", 2)]
        self.submit(space, bodies)
        self.wait_bound(space, len(bodies), name, patience)

    def said(self, space: str) -> str:
        """All conditions of its pods and all events there."""
        items = self.admin.get(pods(space))["items"]
        conditions = (one for pod in items for one in pod["status"].get("conditions", ()))
        found = [one.get("message", "") for one in conditions]
        events = self.admin.get(f"/apis/events.k8s.io/v1/namespaces/{space}/events")["items"]
        return "\n".join([*found, *(one.get("note", "") for one in events)])

    def records(self, kind: str) -> list[Body]:
        """The Leases of the scheduler of that kind."""
        return list(self.admin.get(RECORDS + kind)["items"])

    @property
    def terms(self) -> int:
        """How often the lead has changed hands."""
        return int(self.admin.get(LEAD)["spec"]["leaseTransitions"])

    def lines(self, event: str) -> list[Body]:
        """The log lines of one sort."""
        return [one for one in self.replica.lines() if event in (one.get("msg"), one.get("event"))]

    def page(self, path: str) -> Any:
        """What the scheduler's server answers, however long it takes under a load."""
        return eventually(lambda: self.replica.get(path), f"{path} is answered")

    def configure(self, **spec: Any) -> None:
        """Put fields of the config in force, beside those that ship, and wait for it."""
        body = shipped_config()
        config = yaml.safe_load(body["data"]["config.yaml"])
        config["spec"] |= spec
        body["data"]["config.yaml"] = yaml.safe_dump(config)
        before = len(self.lines("config_in_force"))
        self.admin.patch(f"{CONFIG_MAPS}/{body['metadata']['name']}", body)
        eventually(lambda: len(self.lines("config_in_force")) > before, "the config is in force")

    def clear(self, *spaces: str) -> None:
        """Delete all pods of the tenant and of `spaces`, and wait until no place is kept."""

        def none_left() -> bool:
            for space in (self.space, *spaces):
                for pod in self.admin.get(pods(space))["items"]:
                    if pod["metadata"].get("finalizers"):
                        path = f"{pods(space)}/{pod['metadata']['name']}"
                        self.admin.patch(path, {"metadata": {"finalizers": None}})
                self.admin.delete(f"{pods(space)}?gracePeriodSeconds=0")
            left = (self.admin.get(pods(space))["items"] for space in (self.space, *spaces))
            return not any(left) and not self.records("relocation")

        eventually(none_left, "nothing is left", 60)


def pods(space: str) -> str:
    """The path of the pods of a namespace."""
    return f"/api/v1/namespaces/{space}/pods"


@contextmanager
def stage_on(plane: Plane, folder: Path, nodes: int, *more: str) -> Iterator[Stage]:
    """What ships is in force on a fleet of so many nodes; `more` are controllers to run."""
    if plane.managed:
        plane.controller_manager(controllers=(*flags.CONTROLLERS, *more))
    plane.kwok()
    create_fleet(plane.kubeconfig(), Fleet(nodes))
    others = yaml.safe_load_all((ROOT / "tests/e2e/crds.yaml").read_text())
    with plane.api() as admin, plane.api("tenant") as tenant:
        serve(admin, (*definitions(), *others))
        admin.create(CONFIG_MAPS, shipped_config())
        admin.create(CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        made = install(admin, RBAC / "scheduler.yaml", *POLICIES)
        space = _space(plane, admin)
        kubeconfig = account(plane, SCHEDULER, folder)
        with Replica(plane, "admin", folder, kubeconfig=kubeconfig) as replica:
            eventually(lambda: replica.leads, "it leads", 90)
            stage = Stage(plane, admin, tenant, replica, space)
            eventually(lambda: _may(stage), "the tenant has its rights")
            yield stage
        uninstall(admin, made)


def _may(stage: Stage) -> bool:
    """Whether the rights of the tenant have arrived."""
    kinds = ("core/pods", "scheduling.volcano.sh/podgroups")
    return all(allowed(stage.tenant, "create", kind, stage.space) for kind in kinds)


def _space(plane: Plane, admin: Api) -> str:
    space = admin.new_namespace()
    group = "rbac.authorization.k8s.io"
    rbac = f"/apis/{group}/v1/namespaces/{space}"
    rules = [
        {"apiGroups": [name], "resources": kinds, "verbs": ["*"]} for name, kinds in KINDS.items()
    ]
    admin.create(f"{rbac}/roles", {"metadata": {"name": "kinds"}, "rules": rules})
    # The parts of `admin` are bound one by one: the role itself is put together by a controller.
    roles = [("ClusterRole", f"system:aggregate-to-{one}") for one in ("admin", "edit", "view")]
    for kind, name in (("Role", "kinds"), *roles):
        reference = {"apiGroup": group, "kind": kind, "name": name}
        body = {"metadata": {"name": name.rpartition("-")[2]}, "roleRef": reference}
        body["subjects"] = [plane.subject("tenant")]
        admin.create(f"{rbac}/rolebindings", body)
    return space
