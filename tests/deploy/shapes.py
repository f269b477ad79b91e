"""Shapes of what goes into objects of Kubernetes, as JSON schemas: names, quantities, networks.

Each refuses what the API server, or the program that reads it, would refuse.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
QUALIFIED_NAME = rf"({SUBDOMAIN}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{{0,61}}[A-Za-z0-9])?"
_BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_V4 = rf"{_BYTE}(\.{_BYTE}){{3}}/(3[0-2]|[12]?[0-9])"
_V6 = "[0-9a-fA-F]*:[0-9a-fA-F:.]*/(12[0-8]|1[01][0-9]|[0-9]?[0-9])"
_AMOUNT = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
_LABEL_VALUE = "([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?"


def text(pattern: str = "") -> Schema:
    """A text that `pattern` matches as a whole, any where there is none."""
    return {"type": "string", **({"pattern": f"^({pattern})$"} if pattern else {})}


def optional(pattern: str) -> Schema:
    """A text that `pattern` matches as a whole, or the empty one, which leaves it out."""
    return text(f"{pattern}|")


def some(items: Schema) -> Schema:
    """A list of those."""
    return {"type": "array", "items": items}


def entries(values: Schema) -> Schema:
    """A map to those, by any names."""
    return {"type": "object", "additionalProperties": values}


def fixed(properties: dict[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """An object of these keys, and no others."""
    must = {"required": list(required)} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": properties, **must}


def named(*more: str) -> Schema:
    """An object of the API's own with a name, and `more` that it needs."""
    return {"type": "object", "required": ["name", *more]}


QUANTITY: Schema = {"anyOf": [text(_AMOUNT), {"type": "number", "minimum": 0}]}
LABELS = entries(text(_LABEL_VALUE))
CIDRS = some(text(f"{_V4}|{_V6}"))
TOLERATION = fixed(
    {
        "key": text(),
        "operator": {"enum": ["Exists", "Equal", "Lt", "Gt"]},
        "value": text(_LABEL_VALUE),
        "effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
        "tolerationSeconds": {"type": "integer"},
    }
)
AFFINITY = fixed(
    {one: {"type": "object"} for one in ("nodeAffinity", "podAffinity", "podAntiAffinity")}
)
RESOURCES = fixed(
    {
        "requests": entries(QUANTITY),
        "limits": entries(QUANTITY),
        "claims": some(fixed({"name": text(LABEL), "request": text()}, ("name",))),
    }
)
_NOT_ROOT: Schema = {"type": ["integer", "null"], "minimum": 1, "maximum": 2**31 - 1}
_PROFILE = fixed(
    {"type": {"enum": ["RuntimeDefault", "Localhost"]}, "localhostProfile": text()}, ("type",)
)
POD_SECURITY_CONTEXT = fixed(
    {
        **dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), _NOT_ROOT),
        "fsGroupChangePolicy": {"enum": ["OnRootMismatch", "Always"]},
        "supplementalGroups": some({**_NOT_ROOT, "type": "integer"}),
        "seccompProfile": _PROFILE,
        "appArmorProfile": _PROFILE,
        "seLinuxOptions": fixed(
            {"level": text(), "type": text("container_[a-z_]+"), "user": text(), "role": text()}
        ),
    }
)
"""Nothing in it makes a pod root, or less confined than it ships."""
SHAPES: dict[str, Schema] = {
    "affinity": AFFINITY,
    "commonLabels": LABELS,
    "apiServerCIDRs": CIDRS,
    "apiServerPorts": some({"type": "integer", "minimum": 1, "maximum": 65535}),
    "extraArgs": some({"type": "string", "minLength": 1}),
    "extraEnv": some(named()),
    "extraTerms": some({"type": "string", "minLength": 1}),
    "extraVolumeMounts": some(named("mountPath")),
    "extraVolumes": some(named()),
    "hostPaths": some(text(r"(/[A-Za-z0-9._-]+)+")),
    "hosts": some(text("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")),
    "imagePullSecrets": some(fixed({"name": text(SUBDOMAIN)}, ("name",))),
    "ingressNamespace": LABELS,
    "labels": LABELS,
    "monitoringNamespace": LABELS,
    "nodeLabels": some(text(QUALIFIED_NAME)),
    "nodeSelector": LABELS,
    "otherSchedulers": some(text(f"{LABEL}/{SUBDOMAIN}")),
    "podAnnotations": entries(text()),
    "podLabels": LABELS,
    "podSecurityContext": POD_SECURITY_CONTEXT,
    "priorityClassName": optional(SUBDOMAIN),
    "resources": RESOURCES,
    "serviceAccountAnnotations": entries(text()),
    "tolerations": some(TOLERATION),
    "topologySpreadConstraints": some({"type": "object", "required": ["topologyKey"]}),
    "trustedProxies": CIDRS,
}
"""Key -> what its value is, wherever it stands."""
