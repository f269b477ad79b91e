"""kubeconform with the schemas of an API server: what the server publishes of its kinds.

kubeconform takes JSON schemas, one file a kind. An API server publishes OpenAPI v3, one document
for each version of a group, which holds all that its kinds refer to. So each document becomes a
file, and each kind a file that points into it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy.tools import run

Body = dict[str, Any]

FOREIGN = {
    "argoproj.io/v1alpha1/ApplicationSet": "Argo CD brings it",
    "cert-manager.io/v1/Certificate": "cert-manager brings it",
    "cert-manager.io/v1/Issuer": "cert-manager brings it",
    "monitoring.coreos.com/v1/PodMonitor": "the Prometheus operator brings it",
    "monitoring.coreos.com/v1/PrometheusRule": "the Prometheus operator brings it",
    "monitoring.coreos.com/v1/ServiceMonitor": "the Prometheus operator brings it",
}
"""Kinds (`group/version/Kind`) of which a Kubernetes API server publishes nothing, and why."""

KINDS = "{{ .ResourceKind }}{{ .KindSuffix }}.json"
"""How kubeconform names the file of a kind: deployment-apps-v1.json, pod-v1.json."""

DRAFT = "http://json-schema.org/draft-04/schema#"


@dataclass(frozen=True)
class Verdict:
    """What kubeconform says of one object; `status` is valid, invalid, skipped or error."""

    file: str
    kind: str
    """As `group/version/Kind`."""
    name: str
    status: str
    message: str


def published(get: Callable[[str], Body]) -> dict[str, Body]:
    """Path -> OpenAPI document of each version of a group; `get` reads a path of the server."""
    found = get("/openapi/v3")["paths"]
    documents = {path: get(one["serverRelativeURL"]) for path, one in found.items()}
    return {path: one for path, one in documents.items() if "schemas" in one.get("components", {})}


def write_schemas(documents: dict[str, Body], folder: Path) -> frozenset[str]:
    """Write what kubeconform reads into `folder`; the kinds (`group/version/Kind`) of it."""
    kinds = set()
    for path, document in documents.items():
        parts = document["components"]["schemas"]
        file = f"{path.replace('/', '_')}.json"
        content = {"$schema": DRAFT, "components": {"schemas": _each(parts)}}
        (folder / file).write_text(json.dumps(content))
        for name, part in parts.items():
            for group, version, kind in _kinds_of(part):
                # As kubeconform has it: of a group's name only what stands before the first dot.
                suffix = "-".join(filter(None, (group.partition(".")[0], version)))
                reference = {"$schema": DRAFT, "$ref": f"{file}#/components/schemas/{name}"}
                kind_file = folder / f"{kind}-{suffix}.json".lower()
                kind_file.write_text(json.dumps(reference))
                kinds.add("/".join(filter(None, (group, version, kind))))
    return frozenset(kinds)


def judged(
    files: Path, schemas: Path, skipped: Collection[str] = frozenset(FOREIGN)
) -> list[Verdict]:
    """What kubeconform says of each object in a file or folder; a kind without schema is an error.

    Skips the test where kubeconform cannot be had.
    """
    done = run(
        "kubeconform", "-strict", "-verbose", "-output", "json", "-skip", ",".join(skipped),
        "-schema-location", f"{schemas}/{KINDS}", files, code=None,
    )  # fmt: skip
    return [
        Verdict(
            Path(one["filename"]).name,
            f"{one['version']}/{one['kind']}",
            one["name"],
            one["status"].removeprefix("status").lower(),
            one["msg"],
        )
        for one in json.loads(done.stdout)["resources"]
        if one["status"] != "statusEmpty"
    ]


def _kinds_of(part: Body) -> Iterator[tuple[str, str, str]]:
    for one in part.get("x-kubernetes-group-version-kind", ()):
        yield one["group"], one["version"], one["kind"]


def _each(parts: dict[str, Body]) -> dict[str, Body]:
    return {name: _strict(part) for name, part in parts.items()}


def _strict(part: Body) -> Body:
    """`part` without room for fields that it does not name, unless it names none.

    What stands under `allOf` and the like refers to other parts, or only adds to this one.
    """
    closed = dict(part)
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            closed[key] = _strict(part[key])
    if part.get("x-kubernetes-int-or-string"):
        closed["type"] = ["integer", "string"]
    if part.get("properties"):
        closed["properties"] = _each(part["properties"])
        if not part.get("x-kubernetes-preserve-unknown-fields"):
            closed.setdefault("additionalProperties", False)
    return closed
