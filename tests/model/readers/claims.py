"""Builders of what drivers publish and of ResourceClaims, for the tests of the readers."""

from __future__ import annotations

from typing import Any

from tests.model.readers.made import Body, config, node, pod

API = "resource.k8s.io/v1"
NVIDIA = "gpu.nvidia.com"
DRA = config(devices={"mode": "dra"})


def bare(name: str = "n1", **fields: Any) -> Body:
    """Make a node whose allocatable knows of no GPUs."""
    return node(name, status={"allocatable": {"cpu": "64", "pods": "110"}}, **fields)


def device(name: str, **fields: Any) -> Body:
    """Make a GPU as a slice lists it."""
    return {
        "name": name,
        "attributes": {"type": {"string": "gpu"}, "productName": {"string": "H100"}},
        "capacity": {"memory": {"value": "80Gi"}},
    } | fields


def published(
    *devices: Body,
    node: str = "n1",
    name: str = "",
    driver: str = NVIDIA,
    generation: int = 1,
    count: int = 1,
) -> Body:
    """Make a slice of the pool that is called like its node."""
    pool = {"name": node, "generation": generation, "resourceSliceCount": count}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": list(devices)}
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": name or f"{node}-{driver}"},
        "spec": spec,
    }


def gpus(count: int = 8) -> list[Body]:
    """Make the GPUs of a node."""
    return [device(f"gpu-{i}") for i in range(count)]


def device_class(name: str = NVIDIA, expression: str = "") -> Body:
    """Make a class of one selector, by default of the driver that is called like it."""
    selectors = [{"cel": {"expression": expression or f"device.driver == '{name}'"}}]
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors},
    }


def claim(name: str = "c", count: int = 1, **exactly: Any) -> Body:
    """Make a claim of one request."""
    request = {"deviceClassName": NVIDIA, "allocationMode": "ExactCount", "count": count}
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ml", "uid": f"uid-of-{name}"},
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": request | exactly}]}},
    }


def holding(body: Body, *devices: str, node: str = "n1") -> Body:
    """Make a claim that holds devices of a node."""
    results = [
        {"request": "gpus", "driver": NVIDIA, "pool": node, "device": one} for one in devices
    ]
    return body | {"status": {"allocation": {"devices": {"results": results}}}}


def claiming(name: str = "p", *claims: str, **spec: Any) -> Body:
    """Make a pod that names claims and asks for no GPUs by resource."""
    named = [{"name": one, "resourceClaimName": one} for one in claims or ("c",)]
    return pod(name, None, resourceClaims=named, **spec)
