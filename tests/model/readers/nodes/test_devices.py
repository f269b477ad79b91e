"""What inventories, claims and device maps come to, and which inventories nobody believes."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.gang import Gang
from fourleaf.model.readers import Source, read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.made import Body, config, node, pod, reading

CLAIM = "gpu.scheduling/claim"
MAP = "gpu-scheduling-map"
DEVICES = "alloc.gpu.scheduling/devices"


def inventory(name: str = "n1", count: int = 8, **status: Any) -> Body:
    """Make the inventory of a node with `count` healthy devices; `status` replaces its fields."""
    gpus = [
        {"index": i, "uuid": f"GPU-{name}-{i}", "product": "H100", "memoryMiB": 81559}
        for i in range(count)
    ]
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": name},
        "status": {"gpus": gpus} | status,
    }


def claim(name: str = "c", namespace: str = "ml", **spec: Any) -> Body:
    """Make a claim."""
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def gang_of(*bodies: Body) -> Gang:
    """The only gang of the input, which may be held."""
    (found,) = reading(*bodies, strict=False).snapshot.gangs
    return found


def test_a_believed_inventory_says_which_devices_are_free() -> None:
    """Products, memories and links arrive, and a device that is not healthy is not offered."""
    body = inventory(count=4, links=[{"a": 0, "b": 1, "bandwidthGBps": 450}])
    body["status"]["gpus"][3]["healthy"] = False
    status = {"allocatable": {"nvidia.com/gpu": "3", "pods": "110"}}
    found = reading(node(status=status), body).snapshot.fabric.nodes["n1"]
    layout = layout_of([Device(i, "H100", 81559) for i in range(4)], [(0, 1, 450_000)])
    assert found.allocatable.devices == FreeDevices(layout, 0b0111)
    assert found.allocatable.gpus == 3
    assert found.schedulable


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"format": 2}, "has format 2, above 1"),
        ({"nodeUID": "other"}, "is stale: it speaks of an earlier node"),
        ({"bootID": "other"}, "is stale: the node has started anew since"),
        ({"gpus": []}, "is empty where the node offers 8 devices"),
        ({"gpus": [{"index": 0, "uuid": "a"}] * 2}, "gives two devices one number"),
        ({"gpus": [{"index": i, "uuid": "a"} for i in range(2)]}, "names device a twice"),
        ({"gpus": [{"index": i, "uuid": f"{i}"} for i in range(9)]}, "has 9 healthy devices"),
        ({"gpus": [{"index": i, "uuid": f"{i}"} for i in range(1000)]}, "has 1000 healthy"),
        ({"gpus": [{"index": -1, "uuid": "a"}]}, "makes no sense: status.gpus.0.index"),
        ({"gpus": "eight"}, "makes no sense: status.gpus"),
        ({"links": [{"a": 0, "b": 9, "bandwidthGBps": 1}]}, "links of devices that it does not"),
        ({"links": [{"a": 1, "b": 0, "bandwidthGBps": 1}]}, "a link twice or backwards"),
        ({"links": [{"a": 0, "b": 1, "bandwidthGBps": n} for n in (1, 2)]}, "a link twice"),
        ({"links": [{"a": 0, "b": 1, "bandwidthGBps": float("inf")}]}, "makes no sense"),
        (
            {
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "False",
                        "reason": "Failed",
                        "message": "no driver",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ]
            },
            "is not ready: no driver",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_node_whose_inventory_is_not_believed_is_held_back(status: Body, why: str) -> None:
    """Nobody comes to the node, the reason is kept, and whoever reads the problems sees it."""
    info = {"nodeInfo": {"bootID": "boot-1"}}
    there = node()
    there["metadata"]["uid"] = "uid-1"
    there["status"] |= info

    found = read([Source("in", objects=[there, inventory(**status)])], strict=False)
    one = found.snapshot.fabric.nodes["n1"]
    assert why in one.held_back
    assert not one.schedulable
    assert any(why in problem.message for problem in found.problems)


def test_one_device_on_two_nodes_holds_both_back() -> None:
    """Nobody knows whose it is."""
    twin = inventory("n2")
    twin["status"]["gpus"][5]["uuid"] = "GPU-n1-5"
    nodes = reading(node("n1"), node("n2"), node("n3"), inventory("n1"), twin).snapshot.fabric.nodes
    assert [name for name, one in nodes.items() if one.schedulable] == ["n3"]
    assert "GPU-n1-5, and so does that of n2" in nodes["n1"].held_back


def test_a_claim_says_what_a_pod_demands() -> None:
    """The example of the field: four in a row, with links by preference."""
    spec = {
        "devices": {"count": 4, "policy": "contiguous", "exclusivity": "Exclusive"},
        "topology": {"mode": "Preferred", "minBandwidthGBps": 600},
    }
    found = gang_of(node(), pod(gpus=None, annotations={CLAIM: "c"}), claim(**spec))
    (role,) = found.roles
    assert found.hold is None
    assert role.request.gpus == 4
    assert role.request.wants == DeviceDemand(contiguous=True, prefers=600_000)


def test_a_claim_selects_devices_and_nodes() -> None:
    """Products, memory in mebibytes rounded up, required links, labels of the node."""
    spec = {
        "devices": {"count": 2},
        "topology": {},
        "selector": {
            "products": ["H200", "H100"],
            "minMemory": "80G",
            "nodeSelector": {"pool": "big"},
        },
    }
    found = gang_of(node(), pod(gpus=2, annotations={CLAIM: "c"}), claim(**spec))
    (role,) = found.roles
    demand = DeviceDemand(linked=0, products=("H100", "H200"), memory=76294)
    assert role.request.wants == demand
    assert role.constraint.selector == (("pool", "big"),)


def test_a_plain_claim_demands_any_devices() -> None:
    """One device, exclusive, any; but its number has to be known."""
    spec = {"devices": {"count": 1, "exclusivity": "Exclusive"}}
    (role,) = gang_of(node(), pod(gpus=1, annotations={CLAIM: "c"}), claim(**spec)).roles
    assert (role.request.gpus, role.request.wants) == (1, DeviceDemand())


@pytest.mark.parametrize(
    ("name", "gpus", "spec", "why"),
    [
        ("other/c", None, {"devices": {"count": 1}}, "names a claim of another namespace"),
        ("d", None, {"devices": {"count": 1}}, "names no GpuClaim of namespace ml"),
        ("c", 2, {"devices": {"count": 1}}, "is for 1 devices, but p asks for 2 GPUs"),
        ("c", None, {"devices": {"count": 0}}, "spec.devices.count"),
        ("c", None, {"devices": {"count": 2**31}}, "spec.devices.count"),
        ("c", None, {"devices": {"count": 1.5}}, "spec.devices.count"),
        ("c", None, {}, "spec.devices"),
        ("c", None, {"devices": {"count": 1, "share": True}}, "spec.devices.share"),
    ],
)
def test_a_claim_that_cannot_be_used_holds_the_gang(
    name: str, gpus: int | None, spec: Body, why: str
) -> None:
    """The pod waits with a reason; nothing is guessed."""
    found = gang_of(node(), pod(gpus=gpus, annotations={CLAIM: name}), claim(**spec))
    assert found.hold is not None
    assert found.hold.kind == ReasonKind.INVALID
    assert why in found.hold.detail


def test_a_map_gives_the_very_devices() -> None:
    """Node and numbers of the pod's line."""
    annotations = {MAP: "0=n1:3,1\n1=n2:0"}
    (role,) = gang_of(node(), pod("p-0", None, annotations=annotations)).roles
    assert role.request.wants == DeviceDemand(exact=(1, 3))


def test_where_the_kubelet_chooses_numbers_cannot_be_had() -> None:
    """A map still counts devices; a claim that demands more than a number is refused."""
    count = config(devices={"mode": "count"})
    (role,) = gang_of(node(), count, pod("p-0", None, annotations={MAP: "0=n1:3,1"})).roles
    assert (role.request.gpus, role.request.wants) == (2, None)
    spec = {"devices": {"count": 2, "policy": "contiguous"}}
    found = gang_of(node(), count, pod(gpus=2, annotations={CLAIM: "c"}), claim(**spec))
    assert found.hold is not None
    assert "the kubelet chooses" in found.hold.detail


def test_running_pods_hold_the_devices_that_they_name() -> None:
    """What the annotation says is left out of what is free, for whoever demands devices."""
    runs = pod("r", 2, annotations={DEVICES: "0,5"}, nodeName="n1", phase="Running")
    waits = pod("p-0", None, annotations={MAP: "0=n1:5"})
    snapshot = reading(node(), inventory(), runs, waits).snapshot
    assert snapshot.running[0].devices == (0, 5)
    devices = snapshot.free["n1"].devices
    assert devices is not None
    assert devices.mask == 0b11011110
    assert snapshot.free["n1"].gpus == 6


def test_unknown_holders_leave_no_device_certain() -> None:
    """A pod of somebody else holds one GPU, nobody knows which."""
    runs = pod("r", 1, nodeName="n1", phase="Running", schedulerName="default-scheduler")
    waits = pod("p-0", None, annotations={MAP: "0=n1:5"})
    devices = reading(node(), runs, waits).snapshot.free["n1"].devices
    assert devices is not None
    assert devices.mask == 0
