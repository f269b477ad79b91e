"""What inventories, claims and device maps come to, and which inventories nobody believes."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.gang import Gang
from fourleaf.model.node_constraint import NodeConstraint
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
        (
            {"gpus": [{"index": i, "uuid": f"{i}", "healthy": i < 8} for i in range(9)]},
            "names 9 devices, healthy or not, where the node has 8",
        ),
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
    info = {"nodeInfo": {"bootID": "boot-1"}, "capacity": {"nvidia.com/gpu": "8"}}
    there = node()
    there["metadata"]["uid"] = "uid-1"
    there["status"] |= info

    found = read([Source("in", objects=[there, inventory(**status)])], strict=False)
    one = found.snapshot.fabric.nodes["n1"]
    assert why in one.held_back
    assert not one.schedulable
    assert any(why in problem.message for problem in found.problems)


def _published(name: str, minute: int, *others: str) -> Body:
    """Make the inventory of a node that came in a minute, with devices of `others` as its first."""
    body = inventory(name)
    body["metadata"]["creationTimestamp"] = f"2026-01-01T00:{minute:02}:00Z"
    for gpu, other in zip(body["status"]["gpus"], others, strict=False):
        gpu["uuid"] = other
        gpu["healthy"] = False
    return body


def _believed(*inventories: Body) -> dict[str, str]:
    """Node -> why its inventory is not believed, "" where it is."""
    nodes = [node(one["metadata"]["name"]) for one in inventories]
    found = reading(*nodes, *inventories).snapshot.fabric.nodes
    assert all(one.schedulable != bool(one.held_back) for one in found.values())
    return {name: one.held_back for name, one in found.items()}


def test_a_device_belongs_to_the_node_that_was_there_first() -> None:
    """Whatever its agent says of its health, the node that came later is held back alone."""
    twin = _published("n0", 2, "GPU-n1-5")
    doubts = {"n1": "", "n0": "its inventory names device GPU-n1-5 of n1"}
    assert _believed(twin, _published("n1", 1)) == doubts
    copies = [_published(name, 1, *(f"GPU-n1-{i}" for i in range(8))) for name in ("n10", "n9")]
    doubts = _believed(*copies, _published("n1", 1))
    assert [name for name, why in doubts.items() if not why] == ["n1"]
    assert doubts["n10"] == "its inventory names device GPU-n1-0 of n1, and 7 more of other nodes"


def test_one_agent_takes_no_other_nodes_out() -> None:
    """The oldest node names a device of each younger one: it alone is held back."""
    rest = [_published(f"n{i}", i) for i in range(2, 10)]
    doubts = _believed(_published("n1", 1, *(f"GPU-n{i}-0" for i in range(2, 10))), *rest)
    assert [name for name, why in doubts.items() if why] == ["n1"]
    # Of one of these the youngest names another, and takes its place as little.
    three = (f"GPU-n{i}-0" for i in (2, 3, 4))
    youngest = _published("n99", 50, "GPU-n2-1")
    doubts = _believed(_published("n1", 1, *three), *rest, youngest)
    assert [name for name, why in doubts.items() if why] == ["n1", "n99"]


def test_parts_of_devices_make_room_for_the_devices() -> None:
    """Two of four devices are cut into parts, which the node offers in their place."""
    parts = {"nvidia.com/gpu": "2", "nvidia.com/mig-1g.10gb": "14", "pods": "110"}
    body = inventory(count=4)
    for gpu in body["status"]["gpus"][2:]:
        gpu["healthy"] = False
    status = {"allocatable": parts, "capacity": parts}
    found = reading(node(status=status), body).snapshot.fabric.nodes["n1"]
    assert (found.held_back, found.allocatable.gpus) == ("", 2)


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


SILENT = {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110"}}
"""The status of a node on which no device plugin announces anything."""


def test_an_inventory_is_believed_where_no_device_plugin_announces_anything() -> None:
    """Its healthy devices are the GPUs of the node; where 0 are announced, it contradicts that."""
    body = inventory(count=4)
    body["status"]["gpus"][3]["healthy"] = False
    found = reading(node(status=SILENT), body).snapshot.fabric.nodes["n1"]
    assert (found.allocatable.gpus, found.schedulable) == (3, True)
    none = {"allocatable": {"nvidia.com/gpu": "0", "pods": "110"}}
    doubted = reading(node(status=none), body).snapshot.fabric.nodes["n1"]
    assert doubted.held_back == "its inventory has 3 healthy devices where the node offers 0"


def test_what_an_agent_says_of_a_node_without_gpus_is_believed() -> None:
    """No devices are none, also where a map names some; one in doubt takes nothing, and says why.

    Neither sets the pods apart that ask for GPUs by resource.
    """
    mapped = pod("w-0", None, annotations={MAP: "0=n1:0\n1=n3:0"})
    nodes = (node("n1", status=SILENT), node("n2"), node("n3", None, status=SILENT))
    lost = {"type": "Ready", "status": "False", "reason": "Failed", "message": "no driver"}
    lost["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    doubted = inventory("n3", gpus=[], conditions=[lost])
    bodies = (*nodes, inventory("n1", gpus=[]), doubted, mapped, pod("asks", 1))
    snapshot = reading(*bodies).snapshot
    found = snapshot.fabric.nodes
    assert (found["n1"].allocatable.gpus, found["n2"].allocatable.gpus) == (0, 8)
    assert found["n3"].held_back == "its inventory is not ready: no driver"
    asks = next(gang for gang in snapshot.gangs if gang.key.name == "asks")
    assert asks.roles[0].constraint == NodeConstraint()


def test_device_maps_say_what_nothing_else_says() -> None:
    """All lines of all maps together, and what a pod holds that runs by another; no other's word.

    Who ended, or is of another scheduler, says nothing; nor does a map with a line that is none.
    """
    lines = {MAP: "0=n1:0,3\n1=n2:5\n2=gone:0"}
    other = {MAP: "0=n1:1", DEVICES: "7"}
    pods = (
        pod("w-0", None, annotations=lines),
        pod("v-0", None, annotations=other, nodeName="n1", phase="Running"),
        pod("u-0", None, annotations={MAP: "0=n1:4"}, phase="Succeeded"),
        pod("t-0", None, annotations={MAP: "0=n1:6"}, schedulerName="another"),
        pod("s-0", None, annotations={MAP: "0=n1:2\nodd"}),
    )
    nodes = (node("n1", status=SILENT), node("n2"), node("n3", None, status=SILENT))
    found = reading(*nodes, *pods, strict=False).snapshot.fabric.nodes
    devices = found["n1"].allocatable.devices
    assert devices is not None
    assert [one.number for one in devices.layout.devices] == [0, 1, 3, 7]
    assert (found["n1"].allocatable.gpus, found["n2"].allocatable.gpus) == (4, 8)
    assert "n3" not in found


def test_who_may_go_where_no_device_plugin_announces_gpus() -> None:
    """By resource to n1, by claim to n2 as well, by map to the node of its line."""
    nodes = (node("n1"), node("n2", status=SILENT), node("n3", status=SILENT), inventory("n2", 2))
    pods = (
        pod("asks", 1),
        pod("claims", None, annotations={CLAIM: "c"}),
        pod("maps-0", None, annotations={MAP: "0=n3:0"}),
        pod("both-0", 1, annotations={MAP: "0=n3:1"}),
        pod("plain", None),
    )
    snapshot = reading(*nodes, *pods, claim(devices={"count": 1})).snapshot
    open_to = {
        gang.key.name: [
            name for name, one in snapshot.fabric.nodes.items()
            if gang.roles[0].constraint.selects(one)
        ]
        for gang in snapshot.gangs
    }  # fmt: skip
    assert open_to == {
        "asks": ["n1"],
        "claims": ["n1", "n2"],
        "maps-0": ["n3"],
        "both-0": [],
        "plain": ["n1", "n2", "n3"],
    }


def test_where_the_kubelet_chooses_only_device_plugins_count() -> None:
    """In mode `count` neither map nor inventory gives a node devices that the kubelet lacks."""
    mapped = pod("maps-0", None, annotations={MAP: "0=n1:0"})
    count = config(devices={"mode": "count"})
    found = reading(node(status=SILENT), inventory(), mapped, count).snapshot.fabric
    assert found.nodes["n1"].allocatable.gpus == 0
