"""The pods of the node, and the devices that the scheduler has granted them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.informers import Absent, Change, Put, Removed, Replaced, Selection
from fourleaf.model.devices.held_devices import DEVICES, devices_in

CONFIG_HASH = "kubernetes.io/config.hash"
"""Annotation of a static pod: what the kubelet's control groups call it."""

VENDORS = ("nvidia.com/", "amd.com/")
"""Resources of these are devices that a device plugin of the kubelet picks."""

_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class PodOnNode:
    """A pod of the node. `picked`: not only the scheduler may pick its devices."""

    target: Target
    devices: frozenset[int] = frozenset()
    picked: bool = False

    def __str__(self) -> str:
        return str(self.target)


def subject(node: str) -> Selection:
    """The pods of `node`."""
    return Selection(PODS, fields=f"spec.nodeName={node}", cached=True)


class Grants:
    """The pods of the node that have not ended, kept as new as the cluster tells."""

    def __init__(self) -> None:
        self._pods: dict[str, PodOnNode] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def change(self, _: Kind, change: Change) -> None:
        """Take in what a reflection of the pods tells."""
        if isinstance(change, Replaced | Absent):
            self._pods.clear()
            self._names.clear()
        if isinstance(change, Replaced):
            for body in change.items:
                self._put(body)
        elif isinstance(change, Put):
            self._put(change.body)
        elif isinstance(change, Removed):
            self._remove(change.body)

    def pod(self, uid: str) -> PodOnNode | None:
        """The pod that control groups call `uid`."""
        return self._pods.get(uid)

    def holders(self, gpu: int) -> list[PodOnNode]:
        """The pods that were granted a device, by name."""
        found = {pod for pod in self._pods.values() if gpu in pod.devices}
        return sorted(found, key=str)

    def _put(self, body: Body) -> None:
        self._remove(body)
        if (body.get("status") or {}).get("phase") in _ENDED:
            return
        names = tuple(_names(body))
        self._names[_uid(body)] = names
        self._pods.update(dict.fromkeys(names, pod_on_node(body)))

    def _remove(self, body: Body) -> None:
        for name in self._names.pop(_uid(body), ()):
            self._pods.pop(name, None)


def pod_on_node(body: Body) -> PodOnNode:
    """What the object of a pod says of its devices."""
    metadata = body["metadata"]
    text = str((metadata.get("annotations") or {}).get(DEVICES, ""))
    at = str(metadata.get("namespace", "")), str(metadata["name"])
    target = Target(*at, _uid(body))
    return PodOnNode(
        target, frozenset(devices_in(text)), not text and _picked(body.get("spec") or {})
    )


def _picked(spec: Body) -> bool:
    containers: Iterable[Any] = (
        *(spec.get("containers") or ()),
        *(spec.get("initContainers") or ()),
    )
    for container in containers:
        resources = container.get("resources") or {}
        for amounts in (resources.get("limits") or {}, resources.get("requests") or {}):
            if any(str(name).startswith(VENDORS) for name in amounts):
                return True
    return bool(spec.get("resourceClaims"))


def _names(body: Body) -> Iterator[str]:
    yield _uid(body)
    config_hash = (body["metadata"].get("annotations") or {}).get(CONFIG_HASH)
    if config_hash:
        yield str(config_hash)


def _uid(body: Body) -> str:
    return str(body["metadata"].get("uid", ""))
