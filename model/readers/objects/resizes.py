"""In-place resizes: what pods and containers hold while it is more than their pod asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourleaf.model.quantity import BadQuantity
from fourleaf.model.readers.objects.amounts import reader_of
from fourleaf.model.readers.objects.manifest import Body, entries_of, part_of

_PENDING = "PodResizePending"
"""Condition of a pod that does not have yet what its spec asks for, and why. A kubelet writes it a
moment after it has heard of the resize."""

HELD = ("containerStatuses", "initContainerStatuses", "resources", "allocatedResources")
"""What of the status of a pod says which amounts it and its containers hold."""


def as_resized(spec: Body, status: Body) -> Body:
    """`spec` of a running pod, with what it and its containers hold as long as that is more.

    Source: kube-scheduler counts the most of what is asked for, allocated and in force; of a
    resize that its node can never make, the spec does not count. A container, or a pod, of which
    nothing is in force has what it asks for; so has an init container that is no sidecar.
    """
    infeasible = is_infeasible(status)
    found = dict(spec)
    for key, statuses in (
        ("containers", "containerStatuses"),
        ("initContainers", "initContainerStatuses"),
    ):
        containers, held = spec.get(key), status.get(statuses)
        if isinstance(containers, list) and isinstance(held, list):
            by_name = {
                name: one
                for one in held
                if isinstance(one, dict) and isinstance(name := one.get("name"), str)
            }
            found[key] = [
                _held(one, by_name, infeasible) if key == "containers" or _is_sidecar(one) else one
                for one in containers
            ]
    if spec.get("resources") and isinstance(status.get("resources"), dict):
        found["resources"] = _of_pod(part_of(spec, "resources"), status, infeasible)
    return found


def is_infeasible(status: Body) -> bool:
    """Whether the node of a pod can never make the resize that is asked for."""
    pending = [one for one in entries_of(status, "conditions") if one.get("type") == _PENDING]
    return bool(pending) and pending[0].get("reason") == "Infeasible"


def _is_sidecar(container: Any) -> bool:
    return isinstance(container, dict) and container.get("restartPolicy") == "Always"


def _held(container: Any, statuses: Mapping[str, Body], infeasible: bool) -> Any:
    name = container.get("name") if isinstance(container, dict) else None
    status = statuses.get(name) if isinstance(name, str) else None
    if status is None or not isinstance(status.get("resources"), dict):
        return container
    resources = part_of(container, "resources")
    return {**container, "resources": _most(resources, status, infeasible)}


def _of_pod(resources: Body, status: Body, infeasible: bool) -> Body:
    """`resources` of a pod as a whole: what it asks for none of is the sum of its containers."""
    most = _most(resources, status, infeasible)
    asked = part_of(resources, "requests")
    return {**most, "requests": {name: most["requests"].get(name, 0) for name in asked}}


def _most(resources: Body, status: Body, infeasible: bool) -> Body:
    """`resources` with the most of what is asked for, allocated and in force."""
    lists = [status.get("allocatedResources"), part_of(status, "resources").get("requests")]
    if not infeasible:
        lists.append(resources.get("requests"))
    most: Body = {}
    for listed in lists:
        for name, amount in listed.items() if isinstance(listed, dict) else ():
            most[name] = _more(str(name), most.get(name), amount)
    return {**resources, "requests": most}


def _more(name: str, one: object, other: object) -> object:
    """The larger of two amounts of a resource; what cannot be read is left to who reads it."""
    try:
        read = reader_of(name)
        return other if one is None or read(other) > read(one) else one
    except BadQuantity:
        return other
