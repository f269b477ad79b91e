"""A cluster that somebody else runs, seen as a control plane of the tests."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane import flags
from tests.controlplane.api import Api, ApiError
from tests.controlplane.build import program
from tests.controlplane.fleet import FAKE, LABEL
from tests.controlplane.processes import Process
from tests.controlplane.roles import ROLES, write_kubeconfig
from tests.controlplane.stages import STAGES
from tests.controlplane.waiting import eventually

HOURS = 8
"""How long the token of a role is good."""


class ExternalPlane:
    """The cluster of `kubeconfig`, whose current context must be allowed to do everything.

    Its roles are service accounts of one namespace. What needs its
    processes (kill, restart, other flags, the audit log) is not there: see `managed`. `stop`
    also removes the nodes of every `Fleet` and the namespaces made here.
    """

    managed = False
    """Whether its processes are ours to stop and to start again."""

    def __init__(self, kubeconfig: Path) -> None:
        self._given = kubeconfig
        self._folder = tempfile.TemporaryDirectory(prefix="fourleaf-external-")
        self.folder = Path(self._folder.name)
        self._namespaces: list[str] = []
        self._made: dict[str, Path] = {}
        self._kwok: list[Process] = []

    def stop(self) -> None:
        """End what was started and remove what was made; the cluster goes on."""
        for process in self._kwok:
            process.kill()
        with self.api() as api:
            for name in self._namespaces:
                with suppress(ApiError):
                    api.delete(f"/api/v1/namespaces/{name}")
            api.delete(f"/api/v1/nodes?labelSelector={LABEL}")
        self._folder.cleanup()

    def kubeconfig(self, role: str = "admin") -> Path:
        """Tell the kubeconfig file of a role, with a new service account where it needs one.

        Raises `ApiError`.
        """
        if ROLES[role].name in ("admin", "kwok"):
            return self._given
        if role not in self._made:
            accounts = f"/api/v1/namespaces/{self._home()}/serviceaccounts"
            with self.api() as api:
                api.create(accounts, {"metadata": {"name": role}})
            self._made[role] = self._with_token(role, f"{accounts}/{role}/token")
        return self._made[role]

    def subject(self, role: str) -> dict[str, str]:
        """Make the subject of an RBAC binding that grants rights to a role."""
        return {"kind": "ServiceAccount", "namespace": self._home(), "name": role}

    def api(self, role: str = "admin") -> Api:
        """Connect as a role. The caller closes the connection. Raises `ApiError`."""
        return Api(self.kubeconfig(role))

    def namespace(self) -> str:
        """Make a namespace, which `stop` removes, ready for pods, and tell its name.

        Raises `ApiError`.
        """
        with self.api() as api:
            name = api.new_namespace()
            self._namespaces.append(name)
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            eventually(lambda: api.get(account), f"{name} has the account that its pods need")
        return name

    def kwok(self, stages: Path = STAGES, *more: str) -> Process:
        """Start kwok for the nodes of a `Fleet`, and for no real one. Raises `ProcessError`."""
        ((key, value),) = FAKE.items()
        nodes = f"--manage-nodes-with-annotation-selector={key}={value}"
        arguments = [*flags.kwok(self._given, stages, nodes), *more]
        process = Process("kwok", [str(program("kwok")), *arguments], self.folder / "kwok.log")
        self._kwok.append(process)
        process.start()
        return process

    def _home(self) -> str:
        """Tell the namespace of the service accounts, which is the first one made."""
        return self._namespaces[0] if self._namespaces else self.namespace()

    def _with_token(self, role: str, path: str) -> Path:
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": HOURS * 3600},
        }
        with self.api() as api:
            token = api.create(path, body)["status"]["token"]
        return write_kubeconfig(self.folder / f"{role}.kubeconfig", self._cluster(), role, token)

    def _cluster(self) -> dict[str, Any]:
        content = yaml.safe_load(self._given.read_text())
        context = _named(content["contexts"], content["current-context"])["context"]
        cluster = dict(_named(content["clusters"], context["cluster"])["cluster"])
        if "certificate-authority" in cluster:
            # Such a path counts from the file that names it, and ours is elsewhere.
            named = self._given.resolve().parent / cluster["certificate-authority"]
            cluster["certificate-authority"] = str(named)
        return cluster


def _named(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if item["name"] == name)
