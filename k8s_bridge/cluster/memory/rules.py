"""What the apiserver makes of objects of a kind before it keeps them."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    DEVICE_CLASSES,
    EVENTS,
    LEASES,
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    NODES,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    SECRETS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.memory.claims import check_claim_update
from fourleaf.k8s_bridge.cluster.memory.refusals import invalid
from fourleaf.k8s_bridge.cluster.protocol import Body

ANNOTATION_BYTES = 256 * 1024
"""How long all keys and values of an object's annotations may be together."""

_WITHOUT_STATUS = frozenset(
    {
        CONFIG_MAPS,
        DEVICE_CLASSES,
        EVENTS,
        LEASES,
        MUTATING_POLICIES,
        MUTATING_WEBHOOKS,
        PRIORITY_CLASSES,
        RESOURCE_CLAIM_TEMPLATES,
        RESOURCE_SLICES,
        SECRETS,
        VALIDATING_POLICIES,
        VALIDATING_WEBHOOKS,
    }
)
_OURS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_MAY_CHANGE = ("tolerations", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
_MAY_CHANGE_GATED = ("nodeSelector", "affinity")


def has_status(kind: Kind) -> bool:
    """Whether the status of `kind` is written through a subresource of its own."""
    return kind not in _WITHOUT_STATUS


def starting(kind: Kind, body: Body) -> None:
    """Fill in what a new object starts with, in place."""
    if kind == PODS:
        _start_pod(body)
    elif has_status(kind) and kind != NODES:
        body.pop("status", None)


def _start_pod(body: Body) -> None:
    spec = body.setdefault("spec", {})
    if not spec.get("containers"):
        raise invalid(body["metadata"]["name"], "spec.containers", "Required value")
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("restartPolicy", "Always")
    body["status"] = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        body["status"]["conditions"] = [condition]


def updated(kind: Kind, old: Body, new: Body, subresource: str) -> Body:
    """`old` as a write of `new` leaves it. Raises `Refused`."""
    if subresource and (subresource != "status" or not has_status(kind)):
        message = "the server could not find the requested resource"
        raise Refused(message, 405, "MethodNotAllowed")
    result = dict(new)
    metadata = result["metadata"] = dict(new.get("metadata") or {})
    for key in _OURS:
        metadata.pop(key, None)
        if key in old["metadata"]:
            metadata[key] = old["metadata"][key]
    for key in ("name", "namespace", "resourceVersion"):
        if key in old["metadata"]:
            metadata[key] = old["metadata"][key]
    if subresource == "status":
        result.pop("spec", None)
        if "spec" in old:
            result["spec"] = old["spec"]
    elif has_status(kind):
        result.pop("status", None)
        if "status" in old:
            result["status"] = old["status"]
    if kind == PODS and not subresource:
        _check_pod_update(old, result)
    if kind == RESOURCE_CLAIMS:
        check_claim_update(old, result)
    check_annotations(result)
    return result


def _check_pod_update(old: Body, new: Body) -> None:
    before, after = old["spec"], new.get("spec") or {}
    gates = [gate.get("name") for gate in before.get("schedulingGates") or ()]
    kept = [gate.get("name") for gate in after.get("schedulingGates") or ()]
    name = old["metadata"]["name"]
    if not set(kept) <= set(gates):
        raise invalid(name, "spec.schedulingGates", "Forbidden: only deletion is allowed")
    free = {*_MAY_CHANGE, "schedulingGates", *(_MAY_CHANGE_GATED if gates else ())}
    if _fixed(before, free) != _fixed(after, free):
        raise invalid(name, "spec", "Forbidden: pod updates may not change this field")


def _fixed(spec: dict[str, Any], free: set[str]) -> dict[str, Any]:
    fixed = {key: value for key, value in spec.items() if key not in free}
    for key in ("containers", "initContainers"):
        if key in fixed:
            fixed[key] = [{**container, "image": ""} for container in fixed[key]]
    return fixed


def check_annotations(body: Body) -> None:
    """Raise `Refused` where annotations are too long or not text."""
    metadata = body["metadata"]
    annotations = metadata.get("annotations") or {}
    for key, value in annotations.items():
        if not isinstance(value, str):
            message = f"metadata.annotations[{key}]: {value!r} is not a string"
            raise Refused(message, 400, "BadRequest")
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATION_BYTES:
        why = f"Too long: may not be more than {ANNOTATION_BYTES} bytes"
        raise invalid(metadata["name"], "metadata.annotations", why)
