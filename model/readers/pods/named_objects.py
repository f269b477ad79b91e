"""What a pod that waits may name: each disk, host port and resource is held against all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourleaf.model.readers.objects.inline_disks import INLINE_DISKS
from fourleaf.model.readers.objects.manifest import Body

MOST_DISKS = 32
"""Disks that a waiting pod names in its own volumes: no node attaches many more."""
MOST_HOST_PORTS = 64
"""Ports of its node that a waiting pod asks for."""
MOST_RESOURCES = 64
"""Different resources that the containers of a waiting pod ask for."""


def too_many_amounts(spec: Body) -> str:
    """Of what a pod that waits asks a node for too many amounts, "" where it does not."""
    volumes = _dicts(spec.get("volumes"))
    if sum(any(one in volume for one in INLINE_DISKS) for volume in volumes) > MOST_DISKS:
        return f"spec.volumes, with more than {MOST_DISKS} disks that the pod itself names,"
    containers = [*_dicts(spec.get("containers")), *_dicts(spec.get("initContainers"))]
    key = "containerPort" if spec.get("hostNetwork") is True else "hostPort"
    ports = (port for one in containers for port in _dicts(one.get("ports")))
    if sum(bool(port.get("hostPort") or port.get(key)) for port in ports) > MOST_HOST_PORTS:
        return f"spec.containers[*].ports, with more than {MOST_HOST_PORTS} ports of the node,"
    if len({name for one in containers for name in _resources(one)}) > MOST_RESOURCES:
        return f"spec.containers[*].resources, with more than {MOST_RESOURCES} names of resources,"
    return ""


def _resources(container: Body) -> Iterator[str]:
    asked = container.get("resources")
    for amounts in asked.values() if isinstance(asked, dict) else ():
        yield from amounts if isinstance(amounts, dict) else ()


def _dicts(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
