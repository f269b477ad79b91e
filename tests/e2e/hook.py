"""The webhook as a process, with the rights that ship, before a real API server."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fourleaf.model.crds.definitions import definitions
from fourleaf.webhook.configurations import Deployment, configurations
from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.processes import Process, free_ports
from tests.controlplane.waiting import eventually, serve
from tests.e2e.replica import ROOT, grant

RIGHTS = ROOT / "deploy" / "rbac" / "webhook.yaml"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
PATHS = {
    "MutatingWebhookConfiguration": f"{ADMISSION}/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": f"{ADMISSION}/validatingwebhookconfigurations",
}


class Hook(Process):
    """One `fourleaf webhook` as the role `webhook`; self-signed unless `more` says otherwise."""

    def __init__(
        self, plane: Plane, folder: Path, *more: str, port: int = 0, own: bool = True
    ) -> None:
        self.port, self.side_port = free_ports(2)
        self.port = port or self.port
        main = "from fourleaf.cli.main import main; main()"
        path = plane.kubeconfig("webhook")
        command = [sys.executable, "-c", main, "webhook", "--kubeconfig", str(path)]
        command += ["--listen", f"127.0.0.1:{self.port}"]
        command += ["--metrics-listen", f"127.0.0.1:{self.side_port}", "--drain-seconds", "0.2"]
        command += ["--self-signed", "--host-name", "127.0.0.1"] if own else []
        super().__init__("fourleaf webhook", [*command, *more], folder / f"hook-{self.port}.log")

    def __enter__(self) -> Hook:
        self.start()
        self.wait_ready(lambda: self.get("/readyz") is not None, 60.0)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where it answers reviews."""
        return f"https://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        """What its plain port answers by 200, None where it does not."""
        url = f"http://127.0.0.1:{self.side_port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                body = answer.read()
        except OSError:
            return None
        return body.decode() if path == "/metrics" else json.loads(body)


def install(plane: Plane, url: str) -> None:
    """Give the webhook its rights, and let the API server call it at `url`."""
    grant(plane, "webhook", rights=RIGHTS)
    with plane.api() as api:
        for body in configurations(Deployment(url=url)):
            api.create(PATHS[body["kind"]], body)


def namespace(api: Api, **labels: str) -> str:
    """A new namespace with labels, whose names have _ for the prefix `topology.scheduler/`."""
    name = api.new_namespace()
    given = {f"topology.scheduler/{key.replace('_', '-')}": value for key, value in labels.items()}
    api.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": given}})
    return name


def pod(name: str = "p", annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod of our scheduler with one container that asks for a GPU."""
    container = {
        "name": "main",
        "image": "train",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"schedulerName": "gpu-scheduler", "containers": [container], **spec},
    }


def pods(of: str) -> str:
    """The path of the pods of a namespace."""
    return f"/api/v1/namespaces/{of}/pods"


def try_out(api: Api, of: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the API server would make of a pod, which is not kept."""
    return api.request("POST", f"{pods(of)}?dryRun=All", body)


def refusal(api: Api, of: str, body: dict[str, Any]) -> str:
    """Why a pod is refused, "" where it is not."""
    try:
        try_out(api, of, body)
    except ApiError as error:
        return str(error)
    return ""


def variables(body: dict[str, Any], kinds: Sequence[str]) -> list[tuple[str, Any]]:
    """(container, the field that CUDA_VISIBLE_DEVICES is taken from) for all containers."""
    return [
        (
            one["name"],
            next(
                (
                    entry["valueFrom"]["fieldRef"]["fieldPath"]
                    for entry in one.get("env", ())
                    if entry["name"] == "CUDA_VISIBLE_DEVICES" and "valueFrom" in entry
                ),
                None,
            ),
        )
        for kind in kinds
        for one in body["spec"].get(kind, ())
    ]


def claims(of: str) -> str:
    """The path of the claims of a namespace."""
    return f"/apis/gpu.scheduling/v1/namespaces/{of}/gpuclaims"


def claim(name: str, spec: Any) -> dict[str, Any]:
    """A claim."""
    head = {"apiVersion": "gpu.scheduling/v1", "kind": "GpuClaim", "metadata": {"name": name}}
    return {**head, "spec": spec}


class Scene:
    """An API server with the webhook installed, and a namespace that opted in."""

    def __init__(self, plane: Plane, folder: Path) -> None:
        if not plane.managed:
            pytest.skip("the API server of that cluster cannot call a process on this machine")
        self.plane, self.folder = plane, folder
        self.port = free_ports(1)[0]
        self.api = plane.api()
        serve(self.api, definitions())
        install(plane, f"https://127.0.0.1:{self.port}")
        self.enforced = namespace(self.api, enforce="true")

    def hook(self) -> Hook:
        """The webhook, to be started."""
        return Hook(self.plane, self.folder, port=self.port)

    def wait(self) -> None:
        """Wait until the API server calls it and trusts it."""
        eventually(lambda: not refusal(self.api, self.enforced, pod()), "the webhook is called")
