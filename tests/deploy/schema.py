"""The schemas of the charts' values: what `values.yaml` holds, and nothing else.

A default tells the type. Where more can be said, `PATTERNS` and `CHOICES` say it; what goes into
objects of Kubernetes as it stands is left to the API server; the config is that of the model.
"""

from __future__ import annotations

from typing import Any

from model.config import Spec

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
AS_IT_STANDS = frozenset(
    {
        "affinity",
        "apiServerCIDRs",
        "extraArgs",
        "imagePullSecrets",
        "ingressNamespace",
        "labels",
        "monitoringNamespace",
        "nodeSelector",
        "podAnnotations",
        "resources",
        "tolerations",
    }
)
"""Keys whose values have no shape of ours, though an object stays one, and a list a list."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
CHOICES = {
    "agent.source": ("auto", "nvml", "amdsmi", "file"),
    "image.pullPolicy": ("Always", "IfNotPresent", "Never"),
    "scheduler.dryRun": ("always", "never", "auto"),
    "statefulSet.podManagementPolicy": ("Parallel", "OrderedReady"),
    "webhook.certificates": ("selfSigned", "certManager", "secret"),
    "webhook.issuer.kind": ("Issuer", "ClusterIssuer"),
}
PATTERNS = {
    "agent.driverPath": "^(/.*)?$",
    "agent.namespace": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
    "image.digest": "^(sha256:[0-9a-f]{64})?$",
    "image.repository": "^.+$",
    "monitoring.interval": "^[0-9]+(ms|s|m|h)$",
}
LEAST = {"agent.intervalSeconds": 1, "scheduler.leaseSeconds": 3, "webhook.drainSeconds": 0}
MOST = {"agent.intervalSeconds": 60, "scheduler.leaseSeconds": 60, "webhook.drainSeconds": 60}


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
    return {"type": "object", "additionalProperties": False, "properties": inner}


def _of(value: Any, path: str, key: str) -> Schema:
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        most = {"maximum": MOST[path]} if path in MOST else {}
        return {"type": "integer", "minimum": LEAST.get(path, 0), **most}
    if isinstance(value, list):
        return {"type": "array"}
    if isinstance(value, dict):
        return {"type": "object"} if key in AS_IT_STANDS or not value else _object(value, path)
    if key == "logLevel":
        return {"enum": list(LOG_LEVELS)}
    if path in CHOICES:
        return {"enum": list(CHOICES[path])}
    return {"type": "string", **({"pattern": PATTERNS[path]} if path in PATTERNS else {})}
