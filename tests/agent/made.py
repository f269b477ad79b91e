"""Readings and pods for tests."""

from __future__ import annotations

from typing import Any

from fourleaf.agent.readings import Fault, Reading
from fourleaf.model.crds.node_status import Gpu, Link, Process
from fourleaf.model.devices.held_devices import DEVICES


def gpus(count: int = 2, **more: Any) -> tuple[Gpu, ...]:
    """Devices 0 and up, with `more` fields for each."""
    return tuple(Gpu(index=i, uuid=f"GPU-{i}", product="H100", **more) for i in range(count))


def mesh(count: int = 2, bandwidth: float = 450.0) -> tuple[Link, ...]:
    """A link between any two of `count` devices."""
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return tuple(Link(a=a, b=b, bandwidth_gbps=bandwidth) for a, b in pairs)


def process(gpu: int, pod: str = "", pid: int = 1, memory: int = 0) -> Process:
    """A process of the pod that control groups call `pod`."""
    return Process(gpu=gpu, pid=pid, pod_uid=pod, memory_mib=memory)


def reading(*processes: Process, count: int = 2, **more: Any) -> Reading:
    """What NVML tells of `count` devices, all joined."""
    return Reading("nvml", "580.65", gpus(count), mesh(count), processes, **more)


def failure(reason: str = "DriverUnavailable", source: str = "nvml") -> Reading:
    """A reading of nothing."""
    return Reading(source, fault=Fault(reason, "the driver is gone"))


def pod(name: str, granted: str = "", node: str = "n1", **more: Any) -> dict[str, Any]:
    """A pod of namespace `ml` on `node`, granted devices as an annotation says."""
    annotations = {DEVICES: granted} if granted else {}
    container: dict[str, Any] = {"name": "main", "image": "train"}
    limits = more.pop("limits", None)
    if limits:
        container["resources"] = {"limits": limits}
    spec = {"nodeName": node, "containers": [container], **more}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}
