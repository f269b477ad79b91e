"""What may happen to ResourceSlices, DeviceClasses and ResourceClaims in a small cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tests.model.readers.made import Body

NODES = tuple(f"n{i}" for i in range(4))
CLASSES = ("gpu.nvidia.com", "gpu.amd.com", "nic.example.com")
"""The last is beside GPUs."""
CLAIMS = ("rc-1", "rc-2", "rc-3")
API = "resource.k8s.io/v1"


class World(Protocol):
    """The part of the cluster that events need."""

    pick: Callable[[Sequence[Any]], Any]

    def put(self, group: str, kind: str, body: Body, fresh: bool = False) -> None:
        """Create or change an object."""
        ...


def ask(pick: Callable[[Sequence[Any]], Any], body: Body) -> None:
    """Let a pod name a claim or two, perhaps none that there is yet."""
    if not isinstance(body["spec"], dict):
        return
    named = {"name": "a", "resourceClaimName": pick(CLAIMS)}
    other = {"name": "b", "resourceClaimTemplateName": "t"}
    body["spec"]["resourceClaims"] = pick(([named], [other], [named, other], "none"))
    if pick((True, True, False)) and isinstance(body["spec"].get("containers"), list):
        body["spec"]["containers"] = [{"name": "main"}]
    if pick((True, False)):
        said = {"name": "b", "resourceClaimName": pick((*CLAIMS, None))}
        body["status"] = {"resourceClaimStatuses": [said]}


def a_slice(world: World) -> None:
    """A driver publishes devices of a node, all of them or a part, now or earlier."""
    pick = world.pick
    driver = pick(CLASSES)
    devices: Any = [
        {
            "name": f"gpu-{i}",
            "attributes": {"type": {"string": pick(("gpu", "gpu", "mig"))}},
            "capacity": {"memory": {"value": pick(("80Gi", "40Gi", "x"))}},
            "taints": pick(([], [{"key": "k", "effect": "NoSchedule"}])),
        }
        for i in range(pick((2, 4, 11)))
    ]
    pool = {
        "name": pick(NODES),
        "generation": pick((1, 2)),
        "resourceSliceCount": pick((1, 1, 2)),
    }
    spec = {
        "driver": driver,
        "nodeName": pick((pool["name"], pool["name"], pick(NODES), None)),
        "pool": pool,
        "devices": pick((devices, devices, devices, "none")),
    }
    body = {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{pool['name']}-{pick(('x', 'y'))}"},
        "spec": pick((spec, spec, spec, "none")),
    }
    world.put("resource.k8s.io", "ResourceSlice", body)


def a_device_class(world: World) -> None:
    """A class comes, or selects other devices."""
    pick = world.pick
    name = pick(CLASSES)
    plain = f"device.driver == '{name}'"
    typed = f"{plain} && device.attributes['{name}'].type == 'gpu'"
    loose = "device.driver != 'x'"
    expression = pick((plain, plain, typed, f"{plain} || true", loose))
    body = {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": pick(([{"cel": {"expression": expression}}], None, 7))},
    }
    world.put("resource.k8s.io", "DeviceClass", body)


def a_resource_claim(world: World) -> None:
    """A claim comes, gets devices, loses them, or asks for something else."""
    pick = world.pick
    exactly = {"deviceClassName": pick(CLASSES), "count": pick((1, 2, 1, 2, 0))}
    request = pick(({"exactly": exactly}, {"exactly": exactly}, {"firstAvailable": [exactly]}))
    results = [
        {"request": "r", "driver": pick(CLASSES), "pool": pick(NODES), "device": f"gpu-{i}"}
        for i in range(pick((1, 2)))
    ]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pick(NODES)]}]}
    allocation: Any = {"devices": {"results": results}}
    if pick((True, False)):
        allocation["nodeSelector"] = {"nodeSelectorTerms": [term]}
    metadata: Body = {"name": pick(CLAIMS), "namespace": pick(("ml", "ops"))}
    metadata["ownerReferences"] = pick(([], [{"kind": "Pod", "name": "a-0", "uid": "uid-1"}]))
    if pick((True, False, False, False)):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    body = {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": pick(({"devices": {"requests": [{"name": "r"} | request]}}, {}, "none")),
        "status": pick(({}, {"allocation": allocation}, {"allocation": allocation}, "none")),
    }
    world.put("resource.k8s.io", "ResourceClaim", body)
