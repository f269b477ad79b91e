"""A control plane of one's own: etcd and kube-apiserver, and what a test adds to them."""

from __future__ import annotations

import csv
import json
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.controlplane import flags
from tests.controlplane.api import Api, healthy
from tests.controlplane.build import program
from tests.controlplane.pki import serving, signing_key
from tests.controlplane.processes import Process, ProcessError, free_ports
from tests.controlplane.roles import ROLES, write_kubeconfig
from tests.controlplane.stages import STAGES
from tests.controlplane.used_rights import note_use

READY = 60.0
"""Seconds that a program may take to become ready; 2 are usual."""

ATTEMPTS = 3
"""Starts before giving up: somebody else may take a port between finding and using it."""


class ControlPlane:
    """etcd and kube-apiserver on 127.0.0.1; controllers, schedulers and nodes on request.

    `gates` are feature gates, `runtime_config` API versions to serve, `apiserver_flags` any
    other flags, which win over ours. Without `audit` no audit log is written, which is what
    measurements want. Everything is in `folder`, by default a temporary one that `stop`
    removes; of a given one it removes the data of etcd alone. To be started and stopped, or
    used as a context.
    """

    managed = True
    """Whether its processes are ours to stop and to start again."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        runtime_config: Iterable[str] = (),
        apiserver_flags: Sequence[str] = (),
        audit: bool = True,
    ) -> None:
        self._temporary = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="fourleaf-plane-"))
        self.port = 0
        self._data = self.folder / "etcd"
        self._gates = dict(gates or {})
        self._more = [*flags.features(self._gates, runtime_config), *apiserver_flags]
        self._audit = audit
        self._tokens = {name: secrets.token_hex(16) for name in ROLES}
        self._extras: list[Process] = []

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        note_use(self.audit)
        self.stop()

    @property
    def url(self) -> str:
        """Where kube-apiserver listens."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def audit_log(self) -> Path:
        """The file with one line of JSON for each answered request."""
        return self.folder / "audit.log"

    def start(self) -> None:
        """Start etcd and kube-apiserver, ready on return. Raises `ProcessError`, `BuildError`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "logs").mkdir(exist_ok=True)
        keys = self.folder / "keys"
        keys.mkdir(exist_ok=True)
        self._serving = serving(keys, "apiserver", "127.0.0.1", "localhost")
        self._signing_key = signing_key(keys, "service-accounts")
        self._write_tokens()
        for attempt in range(1, ATTEMPTS + 1):
            self._etcd, self._apiserver = self._processes()
            try:
                self.start_etcd()
                self.start_apiserver()
            except ProcessError as error:
                self._apiserver.kill()
                self._etcd.kill()
                if attempt == ATTEMPTS or "address already in use" not in str(error):
                    raise
            else:
                return

    def stop(self) -> None:
        """End every process at once, and remove the folder where it is a temporary one."""
        for process in (*reversed(self._extras), *self._core()):
            process.kill()
        self._extras.clear()
        # etcd reserves 64 MB for each of its logs; what else is there may explain a failure.
        shutil.rmtree(self.folder if self._temporary else self._data, ignore_errors=True)

    def start_apiserver(self) -> None:
        """Start kube-apiserver where it was before, ready on return. Raises `ProcessError`."""
        self._apiserver.start()
        token = self._tokens["admin"]
        # The first namespace is made in the background, and may come after readiness.
        for path in ("/readyz", "/api/v1/namespaces/default"):
            self._apiserver.wait_ready(partial(healthy, self.port, path, token), READY)

    def kill_apiserver(self) -> None:
        """End kube-apiserver as a crash would: no goodbye to anybody's watch."""
        self._apiserver.kill()

    def restart_apiserver(self) -> None:
        """Kill kube-apiserver and start it again, ready on return. Raises `ProcessError`."""
        self.kill_apiserver()
        self.start_apiserver()

    def pause_apiserver(self) -> None:
        """Freeze kube-apiserver: connections stay open, nothing answers."""
        self._apiserver.pause()

    def resume_apiserver(self) -> None:
        """Let a frozen kube-apiserver go on."""
        self._apiserver.resume()

    def start_etcd(self) -> None:
        """Start etcd with the data that it had. Raises `ProcessError` where it ends at once."""
        self._etcd.start()

    def stop_etcd(self) -> None:
        """Kill etcd; its data stay, and `start_etcd` brings them back."""
        self._etcd.kill()

    def token(self, role: str) -> str:
        """Tell the bearer token of a role."""
        return self._tokens[role]

    def kubeconfig(self, role: str = "admin") -> Path:
        """Write the kubeconfig file of a role (`ROLES` lists them) and tell its path."""
        cluster = {
            "server": self.url,
            "certificate-authority": str(self._serving.certificate),
        }
        path = self.folder / f"{role}.kubeconfig"
        return write_kubeconfig(path, cluster, role, self._tokens[role])

    def subject(self, role: str) -> dict[str, str]:
        """Make the subject of an RBAC binding that grants rights to a role."""
        return ROLES[role].subject()

    def api(self, role: str = "admin") -> Api:
        """Connect as a role. The caller closes the connection."""
        return Api(self.kubeconfig(role))

    def namespace(self) -> str:
        """Make a namespace and tell its name."""
        with self.api() as api:
            return api.new_namespace()

    def audit(self) -> list[dict[str, Any]]:
        """Read the audit events of all requests answered so far, oldest first."""
        if not self.audit_log.exists():
            return []
        *whole, _ = self.audit_log.read_bytes().split(b"\n")
        return [json.loads(line) for line in whole]

    def controller_manager(
        self, *more: str, controllers: Sequence[str] = flags.CONTROLLERS
    ) -> Process:
        """Start kube-controller-manager with some controllers; `more` flags win over ours.

        Raises `ProcessError`.
        """
        name = "kube-controller-manager"
        (port,) = free_ports(1)
        arguments = flags.controller_manager(
            self.kubeconfig(name),
            port,
            self._serving.certificate,
            self._signing_key,
            controllers,
        )
        return self._start(name, [*arguments, *self._gate_flags(), *more], port, "/healthz")

    def scheduler(self, config: Mapping[str, Any] | None = None, *more: str) -> Process:
        """Start kube-scheduler with a KubeSchedulerConfiguration. Raises `ProcessError`.

        `config` gives fields that differ from the defaults, such as `profiles`.
        """
        name = "kube-scheduler"
        (port,) = free_ports(1)
        content = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": str(self.kubeconfig(name)),
                "qps": 1000,
                "burst": 2000,
            },
            **(config or {}),
        }
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(content))
        arguments = flags.scheduler(port, path)
        return self._start(name, [*arguments, *self._gate_flags(), *more], port, "/readyz")

    def kwok(self, stages: Path = STAGES, *more: str, nodes: str = flags.ALL_NODES) -> Process:
        """Start kwok, which plays the kubelet of every node as `stages` say, or of some `nodes`.

        It has no sign of readiness; nodes become Ready soon after. Raises `ProcessError`.
        """
        return self._start("kwok", [*flags.kwok(self.kubeconfig("kwok"), stages, nodes), *more])

    def _gate_flags(self) -> list[str]:
        return flags.features(self._gates)

    def _core(self) -> list[Process]:
        found = [getattr(self, name, None) for name in ("_apiserver", "_etcd")]
        return [process for process in found if process is not None]

    def _start(self, name: str, arguments: Sequence[str], port: int = 0, path: str = "") -> Process:
        process = Process(name, [str(program(name)), *arguments], self._log(name))
        self._extras.append(process)
        process.start()
        if path:
            process.wait_ready(partial(healthy, port, path), READY)
        return process

    def _processes(self) -> tuple[Process, Process]:
        etcd_port, peer_port, self.port = free_ports(3)
        etcd = flags.etcd(self._data, etcd_port, peer_port)
        apiserver = flags.apiserver(
            self.folder / "keys",
            etcd_port,
            self.port,
            self._serving,
            self._signing_key,
            self.folder / "tokens.csv",
        )
        if self._audit:
            apiserver += flags.audit(self.audit_log, self.folder / "audit-policy.json")
        return (
            Process("etcd", [str(program("etcd")), *etcd], self._log("etcd")),
            Process(
                "kube-apiserver",
                [str(program("kube-apiserver")), *apiserver, *self._more],
                self._log("kube-apiserver"),
            ),
        )

    def _log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name}.log"

    def _write_tokens(self) -> None:
        path = self.folder / "tokens.csv"
        path.touch(0o600)
        with path.open("w", newline="") as file:
            for role in ROLES.values():
                # An empty last field would be a group without a name.
                groups = [",".join(role.groups)] if role.groups else []
                csv.writer(file).writerow([self._tokens[role.name], role.user, role.name, *groups])
