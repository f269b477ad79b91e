"""Grounds and maps of the tests."""

from __future__ import annotations

from typing import Any

from fourleaf.model.device_maps.map_annotations import AnnotatedMap, annotated_maps
from fourleaf.model.device_maps.nodes import MapNodes, ground_of
from fourleaf.model.devices.held_devices import DEVICES as GRANTED
from fourleaf.model.readers import Source
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.report import Report

Body = dict[str, Any]
AKS = "aks-workerpool-25338008-vmss00000"


def node(name: str, gpus: int = 4, ready: bool = True, cordoned: bool = False) -> Body:
    """A node with `gpus` devices."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {"unschedulable": cordoned},
        "status": {
            "allocatable": {"nvidia.com/gpu": str(gpus), "cpu": "8", "pods": "110"},
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


def silent(name: str) -> Body:
    """A node on which no device plugin announces anything, not even that there is none."""
    body = node(name)
    del body["status"]["allocatable"]["nvidia.com/gpu"]
    return body


def agent(name: str, gpus: list[Body]) -> Body:
    """What the agent of a node says of its devices."""
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": name},
        "status": {"gpus": gpus},
    }


def holder(name: str, node_name: str, devices: str | None, gpus: int = 1, lines: str = "") -> Body:
    """A pod that runs with `devices`, or with `gpus` of unknown numbers."""
    said = {} if devices is None else {GRANTED: devices}
    if lines:
        said["gpu-scheduling-map"] = lines
    limits = {"nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "annotations": said},
        "spec": {
            "nodeName": node_name,
            "containers": [{"name": "main", "resources": {"limits": limits}}],
        },
    }


def stateful_set(text: str, replicas: int) -> Body:
    """A StatefulSet whose pods have the map `text`."""
    template = {"metadata": {"annotations": {"gpu-scheduling-map": text}}, "spec": {}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {"replicas": replicas, "template": template},
    }


def inventory(*bodies: Body) -> Inventory:
    """An input of `bodies`."""
    found = Inventory(Report())
    found.take([Source("in.json", objects=list(bodies))])
    return found


def ground(*bodies: Body) -> MapNodes:
    """The nodes among `bodies`, and what runs there."""
    return ground_of(inventory(*bodies))


def stated(body: Body) -> AnnotatedMap:
    """The one map of `body`."""
    (found,) = annotated_maps(inventory(body))
    return found
