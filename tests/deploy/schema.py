"""The schemas of the charts' values: what `values.yaml` holds, and nothing else.

A default tells the type. Where more can be said, `SHAPES`, `PATTERNS` and `CHOICES` say it; the
config is that of the model.
"""

from __future__ import annotations

from typing import Any

from fourleaf.model.config.spec import Spec
from fourleaf.model.config.values import QUALIFIED
from tests.deploy.shapes import LABEL, SHAPES, SUBDOMAIN, Schema, optional, text

DRAFT = "https://json-schema.org/draft/2020-12/schema"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
CHOICES = {
    "agent.discovery.cloud": ("none", "aks", "eks", "gke", "oci"),
    "agent.source": ("auto", "nvml", "amdsmi", "file"),
    "policies.refuseBindings": ("enforcedNamespaces", "allNamespaces"),
    "image.pullPolicy": ("Always", "IfNotPresent", "Never"),
    "scheduler.dryRun": ("always", "never", "auto"),
    "statefulSet.podManagementPolicy": ("Parallel", "OrderedReady"),
    "webhook.certificates": ("selfSigned", "certManager", "secret"),
    "webhook.issuer.kind": ("Issuer", "ClusterIssuer"),
}
PATTERNS: dict[str, Schema] = {
    "agent.discovery.hostFiles": optional("/.*"),
    "agent.driverPath": optional("/.*"),
    "agent.inventoryConfigMap": optional(SUBDOMAIN),
    "agent.namespace": text(LABEL),
    "agent.runtimeClassName": optional(SUBDOMAIN),
    "dashboard.auth.header": optional("[A-Za-z0-9-]+"),
    "dashboard.tokenSecret": optional(SUBDOMAIN),
    **{
        f"{one}image.{key}": shape
        for one in ("", "agent.", "webhook.")
        for key, shape in (
            ("digest", optional("sha256:[0-9a-f]{64}")),
            ("repository", text(r"[^\s@]+")),
        )
    },
    "image.tag": optional("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"),
    "monitoring.interval": text("[0-9]+(ms|s|m|h)"),
    "monitoring.runbookBase": optional(r"https?://\S+"),
    "scheduler.name": {"type": "string", "pattern": QUALIFIED},
    "statefulSet.serviceName": text(LABEL),
    "webhook.caBundle": optional(r"[A-Za-z0-9+/=\n]+"),
    "webhook.issuer.name": optional(SUBDOMAIN),
    "webhook.secretName": optional(SUBDOMAIN),
}
LEAST = {"agent.intervalSeconds": 1, "scheduler.leaseSeconds": 3, "webhook.drainSeconds": 0}
MOST = {"agent.intervalSeconds": 60, "scheduler.leaseSeconds": 60, "webhook.drainSeconds": 60}
GIVEN: Schema = {"minLength": 1}
NOT_GIVEN: Schema = {"maxLength": 0}


def _access(token: Schema, header: Schema) -> Schema:
    return {"properties": {"tokenSecret": token, "auth": {"properties": {"header": header}}}}


TOGETHER: dict[str, Schema] = {
    "dashboard": {
        "if": {"properties": {"enabled": {"const": True}}},
        "then": {"oneOf": [_access(GIVEN, NOT_GIVEN), _access(NOT_GIVEN, GIVEN)]},
    },
    "dashboard.auth": {
        "if": {"properties": {"trustedProxies": {"minItems": 1}}},
        "then": {"properties": {"header": GIVEN}},
    },
}
"""Path of an object -> which of its values go together."""


def schema_of(values: dict[str, Any]) -> Schema:
    """The schema of a chart with these default values."""
    schema = {"$schema": DRAFT, **_object(values, "")}
    if "config" in values:
        config = Spec.model_json_schema(by_alias=True)
        schema["$defs"] = config.pop("$defs")
        schema["properties"]["config"] = config
    # Helm adds this one by itself where the chart is a part of another.
    schema["properties"]["global"] = {"type": "object"}
    return schema


def _object(values: dict[str, Any], path: str) -> Schema:
    inner = {key: _of(value, f"{path}.{key}".lstrip("."), key) for key, value in values.items()}
    schema = {"type": "object", "additionalProperties": False, "properties": inner}
    return {**schema, **TOGETHER.get(path, {})}


def _of(value: Any, path: str, key: str) -> Schema:
    if path in PATTERNS:
        return PATTERNS[path]
    if key in SHAPES:
        return SHAPES[key]
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        most = {"maximum": MOST[path]} if path in MOST else {}
        return {"type": "integer", "minimum": LEAST.get(path, 0), **most}
    if isinstance(value, dict):
        return _object(value, path) if value else {"type": "object"}
    if key == "logLevel":
        return {"enum": list(LOG_LEVELS)}
    if path in CHOICES:
        return {"enum": list(CHOICES[path])}
    raise ValueError(f"values.yaml: nothing is known of the shape of {path}")
