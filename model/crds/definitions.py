"""The two CustomResourceDefinitions, ready to be applied."""

from __future__ import annotations

from typing import Any

import yaml
from pydantic import BaseModel

from fourleaf.model.crds.api import GROUP, VERSION
from fourleaf.model.crds.claim import ClaimSpec, ClaimStatus
from fourleaf.model.crds.node_status import NodeDevices
from fourleaf.model.crds.structural import Schema, structural

Body = dict[str, Any]


def definitions() -> list[Body]:
    """The CRDs of `GpuClaim` and `GpuNodeStatus`."""
    return [_claim(), _node_status()]


def rendered() -> dict[str, str]:
    """File name -> the CRD as YAML, as it stands in `deploy/crds`."""
    command = "python -m fourleaf.model.crds deploy/crds"
    head = f"# Generated from the models by `{command}`; not to be edited.\n"
    return {
        f"{one['spec']['names']['plural']}.yaml": head + yaml.safe_dump(one, sort_keys=False)
        for one in definitions()
    }


def _claim() -> Body:
    spec = structural(ClaimSpec)
    spec["x-kubernetes-validations"] = [
        {
            "rule": "self.devices.count > 1 || !has(self.topology)",
            "message": "one device has no link to another",
            "fieldPath": ".topology",
            "reason": "FieldValueForbidden",
        },
        {
            "rule": "self == oldSelf",
            "message": "does not change: pods may have devices by it. Make another claim.",
            "reason": "FieldValueForbidden",
        },
    ]
    columns = [
        ("Devices", "integer", ".spec.devices.count", 0),
        ("Policy", "string", ".spec.devices.policy", 0),
        ("Topology", "string", ".spec.topology.mode", 1),
        ("Allocated", "integer", ".status.allocated", 0),
        ("Valid", "string", '.status.conditions[?(@.type=="Valid")].status', 1),
    ]
    schema = {"spec": spec, "status": _status(ClaimStatus)}
    return _definition("GpuClaim", "gclaim", "Namespaced", schema, ["spec"], columns)


def _node_status() -> Body:
    status = _status(NodeDevices)
    status["properties"]["gpus"]["x-kubernetes-list-type"] = "map"
    status["properties"]["gpus"]["x-kubernetes-list-map-keys"] = ["index"]
    status["properties"]["links"]["items"]["x-kubernetes-validations"] = [
        {"rule": "self.a < self.b", "message": "a link names the lower device first"}
    ]
    columns = [
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', 0),
        ("Driver", "string", ".status.driverVersion", 0),
        ("Product", "string", ".status.gpus[0].product", 0),
        ("Source", "string", ".status.source", 1),
        ("Match", "string", '.status.conditions[?(@.type=="DevicesMatch")].status', 1),
    ]
    return _definition("GpuNodeStatus", "gns", "Cluster", {"status": status}, [], columns)


def _status(model: type[BaseModel]) -> Schema:
    status = structural(model)
    status["properties"]["conditions"]["x-kubernetes-list-type"] = "map"
    status["properties"]["conditions"]["x-kubernetes-list-map-keys"] = ["type"]
    return status


def _definition(
    kind: str,
    short: str,
    scope: str,
    parts: dict[str, Schema],
    required: list[str],
    columns: list[tuple[str, str, str, int]],
) -> Body:
    plural = kind.lower() + ("es" if kind.endswith("s") else "s")
    printed = [
        {"name": name, "type": type_, "jsonPath": path, "priority": priority}
        for name, type_, path, priority in columns
    ]
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    schema: Schema = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            **parts,
        },
    }
    if required:
        schema["required"] = required
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": ["fourleaf"],
            },
            "scope": scope,
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [*printed, age],
                }
            ],
        },
    }
