"""The chart on a real API server: installed, upgraded, rolled back and removed by helm."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.api import Api, ApiError
from tests.controlplane.fixtures import Plane
from tests.deploy.generated import CHARTS, SYSTEM
from tests.deploy.tools import run

Body = dict[str, Any]
RELEASE = "fourleaf"
AGENT = "fourleaf-agent"
GIVEN = "--set=agent.createNamespace=false"
LEVEL = "pod-security.kubernetes.io/enforce"
NEW_FIELD = ("spec", "properties", "selector", "properties", "minMemory")
"""A field of a GpuClaim that the chart of yesterday does not know."""


class Release:
    """A release of the chart on `plane`; files go to `folder`."""

    def __init__(self, plane: Plane, folder: Path) -> None:
        self._kubeconfig = plane.kubeconfig()
        self._folder = folder

    def helm(self, verb: str, *arguments: str | Path) -> str:
        """Run helm, which has to succeed, and tell what it prints."""
        reach = ("--kubeconfig", self._kubeconfig, "--namespace", SYSTEM)
        return run("helm", verb, *arguments, *reach).stdout

    def install(self, *values: str) -> None:
        """Install the chart of yesterday."""
        self.helm("install", RELEASE, self._yesterday(), GIVEN, *values)

    def upgrade(self, *values: str) -> None:
        """Upgrade to the chart as it ships."""
        self.helm("upgrade", RELEASE, CHARTS / "fourleaf", GIVEN, *values)

    def rollback(self, revision: int) -> None:
        """Go back."""
        self.helm("rollback", RELEASE, str(revision))

    def uninstall(self) -> None:
        """Remove it."""
        self.helm("uninstall", RELEASE)

    def revisions(self) -> list[str]:
        """What became of each revision, oldest first."""
        return [one["status"] for one in json.loads(self.helm("history", RELEASE, "-o", "json"))]

    def _yesterday(self) -> Path:
        """A chart that differs as an older one would: in its version, and in a kind's schema."""
        chart = self._folder / "yesterday"
        if not chart.exists():
            shutil.copytree(CHARTS / "fourleaf", chart)
            about = yaml.safe_load((chart / "Chart.yaml").read_text())
            (chart / "Chart.yaml").write_text(yaml.safe_dump({**about, "version": "0.0.9"}))
            path = chart / "files" / "crds" / "gpuclaims.yaml"
            kind = yaml.safe_load(path.read_text())
            del inner(schema_of(kind), NEW_FIELD[:-1])[NEW_FIELD[-1]]
            path.write_text(yaml.safe_dump(kind))
        return chart


def schema_of(kind: Body) -> Body:
    """The schema of the objects of a CustomResourceDefinition."""
    schema: Body = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return schema


def inner(body: Body, path: tuple[str, ...]) -> Body:
    """What stands in `body` at `path`."""
    for key in path:
        body = body[key]
    return body


@contextmanager
def namespaces(api: Api) -> Iterator[None]:
    """The namespaces of the release: its own, where only restricted pods are admitted; the agent's.

    They are made beforehand, since nobody here finishes the deletion of one.
    """
    levels = {SYSTEM: "restricted", AGENT: "privileged"}
    for name, level in levels.items():
        body = {"metadata": {"name": name, "labels": {LEVEL: level}}}
        api.create("/api/v1/namespaces", body)
    yield
    for name in levels:
        api.delete(f"/api/v1/namespaces/{name}")


def path_of(api: Api, body: Body) -> str:
    """Where an object is, as the server's own discovery says."""
    group = body["apiVersion"]
    root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    (found,) = (
        one
        for one in api.get(root)["resources"]
        if one["kind"] == body["kind"] and "/" not in one["name"]
    )
    metadata = body["metadata"]
    place = f"/namespaces/{metadata['namespace']}" if found["namespaced"] else ""
    return f"{root}{place}/{found['name']}/{metadata['name']}"


def admission(api: Api, namespace: str, template: Body) -> str:
    """Why a pod of `template` is refused in `namespace`, "" where it is admitted; none is made."""
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], "name": "admitted"},
        "spec": template["spec"],
    }
    try:
        api.create(f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict", body)
    except ApiError as error:
        return str(error)
    return ""
