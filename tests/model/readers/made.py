"""Builders of manifests for the tests of the readers."""

from __future__ import annotations

import json
from typing import Any

from fourleaf.model.devices.visibility import ENTRY
from fourleaf.model.readers import InputReading, Source, read

Body = dict[str, Any]
LEAF = "topology.scheduler/leaf"
SPINE = "topology.scheduler/spine"
OURS = "topology-aware-scheduler"


def node(name: str = "n1", leaf: str | None = "leaf-1", spine: str = "s1", **fields: Any) -> Body:
    """Make a node of 8 GPUs, 64 cores and 512 GiB; `fields` replace top-level sections."""
    labels = {} if leaf is None else {LEAF: leaf, SPINE: spine}
    amounts = {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi", "pods": "110"}
    body: Body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": amounts},
    }
    return body | fields


def pod_spec(gpus: Any = 8, **fields: Any) -> Body:
    """Make a pod spec for our scheduler with one container of `gpus` GPUs (None: no amounts).

    The container is told its devices, as the webhook leaves it.
    """
    container: Body = {"name": "main", "env": [ENTRY]}
    if gpus is not None:
        container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    return {"schedulerName": OURS, "containers": [container]} | fields


def pod(
    name: str = "p",
    gpus: Any = 8,
    labels: Body | None = None,
    annotations: Body | None = None,
    namespace: str = "ml",
    phase: str | None = None,
    **spec: Any,
) -> Body:
    """Make a pod; `spec` replaces fields of its spec."""
    metadata: Body = {"name": name, "namespace": namespace}
    if labels is not None:
        metadata["labels"] = labels
    if annotations is not None:
        metadata["annotations"] = annotations
    body: Body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    body["spec"] = pod_spec(gpus, **spec)
    if phase is not None:
        body["status"] = {"phase": phase}
    return body


def owned(body: Body, kind: str, name: str, version: str = "batch/v1") -> Body:
    """Add an owner reference to `body`."""
    reference = {"apiVersion": version, "kind": kind, "name": name, "controller": True}
    body["metadata"]["ownerReferences"] = [reference]
    return body


def job(name: str = "train", gpus: Any = 8, annotations: Body | None = None, **spec: Any) -> Body:
    """Make a Job; `spec` holds parallelism, completions and so on."""
    template = {"spec": pod_spec(gpus)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ml", "annotations": annotations or {}},
        "spec": {"template": template} | spec,
    }


def owner(kind: str, version: str, name: str, **spec: Any) -> Body:
    """Make an owner object."""
    metadata = {"name": name, "namespace": "ml"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


TEMPLATE: Body = {"spec": pod_spec()}


def config(**spec: Any) -> Body:
    """Make a configuration."""
    return {
        "apiVersion": "topology.scheduler/v1alpha1",
        "kind": "SchedulerConfig",
        "metadata": {"name": "topology-scheduler-config"},
        "spec": spec,
    }


def group(name: str, api: str, **spec: Any) -> Body:
    """Make a PodGroup of the API version `api`."""
    metadata = {"name": name, "namespace": "ml"}
    return {"apiVersion": api, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def source(*bodies: Body, name: str = "in.json") -> Source:
    """Make a source of JSON text."""
    return Source(name, json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}).encode())


def reading(*bodies: Body, strict: bool = True) -> InputReading:
    """Read `bodies` through their JSON text."""
    return read([source(*bodies)], strict=strict)
