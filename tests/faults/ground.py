"""A control plane with kubelets and nodes, used by one run after the other."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.controlplane.api import Api, ApiError
from tests.controlplane.fleet import GPU, Fleet, create_fleet, create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.e2e.replica import grant
from tests.faults.scenario import Needs

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
OURS = "app.kubernetes.io/name=fourleaf"
ROLES = ("scheduler-a", "scheduler-b")
AUDIT = ("--audit-log-maxsize=100000",)
"""One file for all runs: a rotated log would be half a history."""


class Ground:
    """etcd, kube-apiserver, kwok and a fleet, as `needs` says. To be used as a context."""

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.fleet = Fleet(needs.nodes)
        self.folder = Path(tempfile.mkdtemp(prefix="fourleaf-faults-"))
        self.plane = ControlPlane(self.folder / "plane", apiserver_flags=[*AUDIT, *needs.flags])

    def __enter__(self) -> Ground:
        self.plane.__enter__()
        try:
            self._furnish()
        except BaseException:
            self.plane.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()
        self.plane.stop()

    def _furnish(self) -> None:
        self.api: Api = self.plane.api()
        if self.needs.controllers:
            self.plane.controller_manager(controllers=self.needs.controllers)
        self.plane.kwok()
        create_fleet(self.plane.kubeconfig(), self.fleet)
        grant(self.plane, *ROLES)

    def audit_text(self, start: int) -> str:
        """The lines of the audit log from byte `start` on."""
        with self.plane.audit_log.open("rb") as file:
            file.seek(start)
            return file.read().decode()

    def clean(self) -> None:
        """Remove every Job, pod and record of the scheduler, and put the fleet back."""
        for job in self.api.get("/apis/batch/v1/jobs")["items"]:
            path = f"/apis/batch/v1/namespaces/{job['metadata']['namespace']}/jobs"
            with suppress(ApiError):
                self.api.delete(f"{path}/{job['metadata']['name']}?propagationPolicy=Background")
        for pod in self._pods():
            where = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"
            with suppress(ApiError):
                self.api.delete(f"{where}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        eventually(lambda: not list(self._pods()), "all pods are gone")
        for name in self._records():
            with suppress(ApiError):
                self.api.delete(f"{LEASES}/{name}")
        self.restore_fleet()

    def restore_fleet(self) -> None:
        """Create the nodes that are missing, and anew those that have been changed."""
        wanted = {body["metadata"]["name"]: body for body in self.fleet.objects()}
        for node in self.api.get("/api/v1/nodes")["items"]:
            name = node["metadata"]["name"]
            if name in wanted and _is_as_made(node, wanted[name]):
                del wanted[name]
            else:
                self.api.delete(f"/api/v1/nodes/{name}")
        if wanted:
            asyncio.run(create_nodes(self.plane.kubeconfig(), list(wanted.values())))

    def _pods(self) -> Iterator[dict[str, Any]]:
        yield from self.api.get("/api/v1/pods")["items"]

    def _records(self) -> list[str]:
        items = self.api.get(f"{LEASES}?labelSelector={OURS}")["items"]
        named = [one["metadata"]["name"] for one in items]
        return [*named, "fourleaf-scheduler"]


def _is_as_made(node: dict[str, Any], made: dict[str, Any]) -> bool:
    ready = any(
        one["type"] == "Ready" and one["status"] == "True" for one in node["status"]["conditions"]
    )
    room = node["status"].get("allocatable", {}).get(GPU)
    spec = node["spec"]
    labels = node["metadata"]["labels"]
    return (
        ready
        and room == made["status"]["allocatable"][GPU]
        and not spec.get("unschedulable")
        and not spec.get("taints")
        and made["metadata"]["labels"].items() <= labels.items()
    )
