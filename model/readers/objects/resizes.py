"""In-place resizes: what containers hold while it is more than their pod asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourleaf.model.quantity import BadQuantity
from fourleaf.model.readers.objects.amounts import reader_of
from fourleaf.model.readers.objects.manifest import Body, entries_of, part_of

_RESIZES = ("PodResizePending", "PodResizeInProgress")
"""Conditions of a pod whose containers do not have yet what its spec asks for. A kubelet writes
them a moment after it has heard of the resize."""


def as_resized(spec: Body, status: Body) -> Body:
    """`spec` of a running pod, with what its containers hold as long as that is more.

    Source: kube-scheduler counts the most of what is asked for, allocated and in force; of a
    resize that its node can never make, the spec does not count.
    """
    resizes = [one for one in entries_of(status, "conditions") if one.get("type") in _RESIZES]
    infeasible = any(one.get("reason") == "Infeasible" for one in resizes)
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
            found[key] = [_held(one, by_name, infeasible) for one in containers]
    return found


def _held(container: Any, statuses: Mapping[str, Body], infeasible: bool) -> Any:
    name = container.get("name") if isinstance(container, dict) else None
    if not isinstance(name, str) or name not in statuses:
        return container
    status = statuses[name]
    lists = [status.get("allocatedResources"), part_of(status, "resources").get("requests")]
    resources = part_of(container, "resources")
    if not infeasible:
        lists.append(resources.get("requests"))
    most: Body = {}
    for listed in lists:
        for name, amount in listed.items() if isinstance(listed, dict) else ():
            most[name] = _more(str(name), most.get(name), amount)
    return {**container, "resources": {**resources, "requests": most}}


def _more(name: str, one: object, other: object) -> object:
    """The larger of two amounts of a resource; what cannot be read is left to who reads it."""
    try:
        read = reader_of(name)
        return other if one is None or read(other) > read(one) else one
    except BadQuantity:
        return other
