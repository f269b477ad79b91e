"""The service accounts that ship, with the rights that ship, and what is made from YAML files."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.controlplane.roles import write_kubeconfig
from tests.e2e.replica import PATHS, ROOT

RBAC = ROOT / "deploy" / "rbac"
POLICIES = sorted((ROOT / "deploy" / "policies").glob("*.yaml"))
SCHEDULER = ("kube-system", "fourleaf-scheduler")
WEBHOOK = ("kube-system", "fourleaf-webhook")
AGENT = ("fourleaf-agent", "fourleaf-agent")
DASHBOARD = ("kube-system", "fourleaf-dashboard")
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_PATHS = {
    **PATHS,
    "Namespace": "/api/v1/namespaces",
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
}


def install(api: Api, *files: Path) -> list[dict[str, Any]]:
    """Create every object of `files` that is not there yet, and tell them all."""
    made = []
    for file in files:
        for body in yaml.safe_load_all(file.read_text()):
            path = _PATHS[body["kind"]]
            try:
                api.create(path.format(namespace=body["metadata"].get("namespace", "")), body)
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise
            made.append(body)
    return made


def uninstall(api: Api, bodies: list[dict[str, Any]]) -> None:
    """Delete what was installed: on a cluster that goes on, it would get in others' way."""
    for body in reversed(bodies):
        metadata = body["metadata"]
        path = _PATHS[body["kind"]].format(namespace=metadata.get("namespace", ""))
        with suppress(ApiError):
            api.delete(f"{path}/{metadata['name']}")


def account(
    plane: Plane, who: tuple[str, str], folder: Path, pod: dict[str, Any] | None = None
) -> Path:
    """Ask for a token of the service account `who` and tell the kubeconfig file that has it.

    Where `pod` is given, it is the token of that pod, which says on which node it runs.
    """
    namespace, name = who
    spec: dict[str, Any] = {"expirationSeconds": 3600}
    title = name
    if pod is not None:
        metadata = pod["metadata"]
        reference = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"]}
        spec["boundObjectRef"] = {**reference, "uid": metadata["uid"]}
        title = f"{name}-{metadata['name']}"
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    with plane.api() as api:
        token = api.create(path, {"spec": spec})["status"]["token"]
    context = yaml.safe_load(plane.kubeconfig().read_text())
    cluster = context["clusters"][0]["cluster"]
    return write_kubeconfig(folder / f"{title}.kubeconfig", cluster, title, token)


def allowed(api: Api, verb: str, resource: str, namespace: str = "", name: str = "") -> bool:
    """Whether whoever `api` is may do that; `resource` is `group/plural[/subresource]`."""
    group, _, rest = resource.partition("/")
    plural, _, subresource = rest.partition("/")
    attributes = {
        "verb": verb,
        "group": "" if group == "core" else group,
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    body = {"spec": {"resourceAttributes": attributes}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return bool(api.create(path, body)["status"]["allowed"])


def applied(api: Api, path: str, body: dict[str, Any], manager: str = "test") -> dict[str, Any]:
    """Apply `body` on the server, by force."""
    query = f"{path}{'&' if '?' in path else '?'}fieldManager={manager}&force=true"
    # The client sends texts as they are; JSON is YAML.
    return api.patch(query, json.dumps(body), "application/apply-patch+yaml")
