"""What a pod asks for and a node offers: sums of containers, GPUs, extras, host ports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

import orjson

from fourleaf.model.quantity import count, in_bytes, millicores
from fourleaf.model.readers.objects.inline_disks import inline_disks
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.resources import PORT_PREFIX, Resources

Amounts = dict[str, int]

_POD_LEVEL = ("cpu", "memory")
NODE_PODS = 110
"""Pod slots of a node that does not state them: the kubelet's default."""


@lru_cache(maxsize=4096)
def reader_of(resource: str) -> Callable[[object], int]:
    """How amounts of `resource` are read: CPU in millicores, sizes in bytes, else counts."""
    if resource == "cpu":
        return millicores
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return in_bytes
    return count


def amounts(manifest: Manifest, value: object, field: str) -> Amounts:
    """A resource list (`requests`, `allocatable`) as integers."""
    found = {}
    for name, amount in manifest.mapping(value, field).items():
        if amount is not None:
            found[str(name)] = manifest.amount(reader_of(str(name)), amount, f"{field}[{name}]")
    return found


def _asked(manifest: Manifest, body: Body, field: str) -> Amounts:
    """Requests of one container; a limit stands for a request that is not stated."""
    resources = body.get("resources")
    if not resources:
        return {}
    resources = manifest.mapping(resources, f"{field}.resources")
    limits = amounts(manifest, resources.get("limits"), f"{field}.resources.limits")
    requests = amounts(manifest, resources.get("requests"), f"{field}.resources.requests")
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None or name in ("cpu", "memory", "ephemeral-storage"):
            continue
        if limit != amount:
            manifest.error(
                f"{field}.resources.requests[{name}]",
                amount,
                f"differs from the limit {limit}",
                "Give request and limit the same amount; devices cannot be overcommitted.",
            )
    return limits | requests


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, floor: Amounts) -> None:
    for name, amount in floor.items():
        if amount > total.get(name, 0):
            total[name] = amount


class RequestReader:
    """Reads what pods ask for; equal resource lists, of which there are many, once."""

    def __init__(self) -> None:
        self._known: dict[bytes, Amounts] = {}

    def amounts(self, manifest: Manifest, spec: Body) -> Amounts:
        """What a pod with `spec` asks for, host ports and disks included; not to be changed."""
        key = _fingerprint(spec)
        found = self._known.get(key) if key else None
        if found is None:
            found = pod_amounts(manifest, spec)
            if key and not manifest.broken:
                self._known[key] = found
        own = _host_ports(manifest, spec) | inline_disks(spec)
        return found | own if own else found


def _fingerprint(spec: Body) -> bytes:
    """Everything that decides the amounts of a plain pod; empty for any other pod."""
    containers = spec.get("containers")
    if (
        not isinstance(containers, list)
        or spec.get("initContainers")
        or spec.get("overhead")
        or spec.get("resources")
    ):
        return b""
    try:
        return orjson.dumps([one.get("resources") for one in containers])
    except (AttributeError, TypeError):
        return b""


def pod_amounts(manifest: Manifest, spec: Body) -> Amounts:
    """What a pod asks for, as Kubernetes counts it, but for host ports and disks.

    Containers and sidecars together, or an init container with the sidecars started
    before it where that is more; pod-level requests in place of that sum; plus overhead.
    """
    total: Amounts = {}
    for path, body in manifest.mappings(spec.get("containers"), "spec.containers"):
        _add(total, _asked(manifest, body, path))
    sidecars: Amounts = {}
    peak: Amounts = {}
    init = spec.get("initContainers")
    if init:
        for path, body in manifest.mappings(init, "spec.initContainers"):
            asked = _asked(manifest, body, path)
            if body.get("restartPolicy") == "Always":
                _add(sidecars, asked)
                _raise_to(peak, sidecars)
            else:
                _add(asked, sidecars)
                _raise_to(peak, asked)
        _add(total, sidecars)
        _raise_to(total, peak)
    if spec.get("resources"):
        for name, amount in _asked(manifest, spec, "spec").items():
            if name in _POD_LEVEL or name.startswith("hugepages-"):
                total[name] = amount
            else:
                manifest.error(
                    f"spec.resources.requests[{name}]",
                    amount,
                    "cannot be asked for at pod level",
                    "Ask for it in a container; pod level takes cpu, memory and hugepages.",
                )
    if spec.get("overhead"):
        _add(total, amounts(manifest, spec["overhead"], "spec.overhead"))
    return total


def _host_ports(manifest: Manifest, spec: Body) -> Amounts:
    found: Amounts = {}
    on_host = spec.get("hostNetwork") is True
    for kind in ("containers", "initContainers"):
        listed = spec.get(kind)
        if not isinstance(listed, list):
            continue
        field = "spec." + kind
        for i, container in enumerate(listed):
            if not isinstance(container, dict) or not container.get("ports"):
                continue
            if kind == "initContainers" and container.get("restartPolicy") != "Always":
                # It is over before the pod's own containers start, and keeps no pod off.
                continue
            for at, port in manifest.mappings(container["ports"], f"{field}[{i}].ports"):
                key = "hostPort" if not on_host or port.get("hostPort") else "containerPort"
                number = manifest.whole(port.get(key), f"{at}.{key}", 0, 0, 65535)
                protocol = manifest.text(port.get("protocol"), f"{at}.protocol", "TCP")
                if number:
                    found[f"{PORT_PREFIX}{protocol}/{number}"] = 1
    return found


def gpu_resource(manifest: Manifest, asked: Amounts, names: tuple[str, ...], field: str) -> str:
    """Which GPU resource `asked` holds, "" for none; two at once are refused."""
    held = [name for name in names if asked.get(name)]
    if len(held) > 1:
        manifest.error(
            field,
            ", ".join(held),
            "names GPUs of two kinds at once",
            "Ask for one GPU resource per pod.",
        )
    return held[0] if held else ""


def most_devices(manifest: Manifest, status: Body, names: tuple[str, ...]) -> float:
    """How many devices a node has by what its kubelet tells of it, broken ones and parts too.

    Infinite where nothing is told.
    """
    if status.get("capacity") is None:
        return math.inf
    had = amounts(manifest, status["capacity"], "status.capacity").items()
    return sum(n for name, n in had if name in names or is_part_of_gpus(name, names))


def is_part_of_gpus(name: str, gpu_names: Iterable[str]) -> bool:
    """Whether the resource is parts of GPUs, or GPUs that several pods share.

    A device that is cut into parts is offered as these alone (`nvidia.com/mig-1g.10gb`), one that
    is shared, in turns or by MPS, under a name of its own (`nvidia.com/gpu.shared`).
    """
    return any(name.startswith((f"{gpu.partition('/')[0]}/mig-", f"{gpu}.")) for gpu in gpu_names)


def as_request(asked: Amounts, gpu_names: tuple[str, ...]) -> Resources:
    """A pod's amounts as `Resources`."""
    offer = as_offer({name: amount for name, amount in asked.items() if amount}, gpu_names)
    return replace(offer, cpu=offer.cpu or 0, memory=offer.memory or 0, pods=1)


def as_offer(offered: Amounts, gpu_names: tuple[str, ...]) -> Resources:
    """A node's allocatable as `Resources`; CPU and memory are None where not stated."""
    extra = [
        (name, amount)
        for name, amount in offered.items()
        if name not in ("cpu", "memory", "pods") and name not in gpu_names
    ]
    return Resources(
        gpus=sum(offered.get(name, 0) for name in gpu_names),
        cpu=offered.get("cpu"),
        memory=offered.get("memory"),
        pods=offered.get("pods", NODE_PODS),
        extra=tuple(sorted(extra)),
    )
