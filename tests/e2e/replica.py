"""Replicas of the scheduler, as processes with the rights that ship."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from tests.controlplane.fixtures import Plane
from tests.controlplane.processes import Process, free_ports

ROOT = Path(__file__).parents[2]
RBAC = ROOT / "deploy" / "rbac" / "scheduler.yaml"
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
}


def grant(plane: Plane, *roles: str, rights: Path = RBAC) -> None:
    """Give `roles` the rights that ship, and nothing else."""
    with plane.api() as api:
        for body in yaml.safe_load_all(rights.read_text()):
            if body["kind"].endswith("Binding"):
                body["subjects"] = [plane.subject(role) for role in roles]
            path = PATHS[body["kind"]]
            api.create(path.format(namespace=body["metadata"].get("namespace", "")), body)


class Replica(Process):
    """One `fourleaf run` as `role`.

    It reads `kubeconfig` instead of the plane's where that is given, and is started by `prefix`
    (`env NAME=VALUE`).
    """

    def __init__(
        self,
        plane: Plane,
        role: str,
        folder: Path,
        *more: str,
        kubeconfig: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        self.port = free_ports(1)[0]
        main = "from fourleaf.cli.main import main; main()"
        path = kubeconfig or plane.kubeconfig(role)
        command = [*prefix, sys.executable, "-c", main, "run", "--kubeconfig", str(path)]
        command += ["--listen", f"127.0.0.1:{self.port}", *more]
        super().__init__(f"fourleaf {role}", command, folder / f"{role}-{self.port}.log")

    def __enter__(self) -> Replica:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if error is not None:
            error.add_note(f"The last words of {self.name}:\n{self.tail()}")

    def get(self, path: str) -> Any:
        """What its server answers, None while it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                body = answer.read()
        except OSError:
            return None
        return body.decode() if path == "/metrics" else json.loads(body)

    @property
    def leads(self) -> bool:
        """Whether it says that it leads."""
        status = self.get("/status")
        return bool(status and status["leader"])

    def lines(self) -> list[dict[str, Any]]:
        """Its log lines so far, but for one that is being written."""
        *whole, _ = self.log.read_bytes().split(b"\n")
        return [json.loads(line) for line in whole if line.startswith(b"{")]
