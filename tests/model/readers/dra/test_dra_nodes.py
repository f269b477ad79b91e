"""What slices come to, and what claims hold of them."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.node import Node
from fourleaf.model.readers import InputReading
from tests.model.readers.claims import (
    DRA,
    NVIDIA,
    bare,
    claim,
    claiming,
    device,
    device_class,
    gpus,
    holding,
    published,
)
from tests.model.readers.made import Body, config, node, reading


def read(*bodies: Body) -> InputReading:
    """Read with devices claimed, on a node without GPUs in its allocatable."""
    return reading(DRA, bare(), device_class(), *bodies, strict=False)


def the_node(*bodies: Body) -> Node:
    """The node as it was read."""
    return read(*bodies).snapshot.fabric.nodes["n1"]


def test_slices_say_what_a_node_has() -> None:
    """Devices of the class count, gpu-2 before gpu-10; products and memories arrive."""
    listed = [device("gpu-10"), device("gpu-2"), device("x", attributes={})]
    typed = device_class(NVIDIA, f"device.attributes['{NVIDIA}'].type == 'gpu'")
    found = reading(DRA, bare(), typed, published(*listed)).snapshot.fabric.nodes["n1"]
    assert found.device_names == (
        DeviceName(NVIDIA, "n1", "gpu-2"),
        DeviceName(NVIDIA, "n1", "gpu-10"),
    )
    layout = layout_of([Device(i, "H100", 80 * 1024, (NVIDIA,)) for i in range(2)])
    assert found.allocatable.devices == FreeDevices(layout, 0b11)
    assert found.allocatable.gpus == 2


def test_what_the_allocatable_says_does_not_count_where_devices_are_claimed() -> None:
    """A node offers what its drivers publish: here nothing, whatever a device plugin said."""
    found = reading(DRA, node(), device_class()).snapshot.fabric.nodes["n1"]
    assert (found.allocatable.gpus, found.device_names) == (0, ())


@pytest.mark.parametrize(
    "special",
    [
        {"taints": [{"key": "broken", "effect": "NoExecute"}]},
        {"consumesCounters": [{"counterSet": "s", "counters": {}}]},
        {"allowMultipleAllocations": True},
        {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]},
    ],
    ids=str,
)
def test_a_device_that_takes_more_than_its_name_is_left_alone(special: dict[str, Any]) -> None:
    """It keeps its number, and nobody gets it."""
    found = the_node(published(device("gpu-0", **special), device("gpu-1")))
    assert found.allocatable.devices is not None
    assert found.allocatable.devices.mask == 0b10
    assert found.allocatable.gpus == 1


def test_only_the_newest_generation_counts() -> None:
    """A slice that a driver has yet to remove says nothing any more."""
    old = published(*gpus(8), name="old", generation=1)
    new = published(*gpus(4), name="new", generation=2)
    assert the_node(old, new).allocatable.gpus == 4


@pytest.mark.parametrize(
    ("slices", "fault"),
    [
        ([published(*gpus(4), count=2)], "is incomplete: 1 of 2 ResourceSlices"),
        (
            [published(*gpus(2), name="a", count=2), published(*gpus(1), name="b", count=2)],
            "names a device twice",
        ),
    ],
    ids=["incomplete", "twice"],
)
def test_a_pool_that_cannot_be_trusted_holds_its_node_back(slices: list[Body], fault: str) -> None:
    """Nobody comes there until the driver has published anew, and a warning says so."""
    found = the_node(*slices)
    assert found.held_back == f"pool n1 of driver {NVIDIA} {fault}"
    assert not found.schedulable
    assert any(fault in one.message for one in read(*slices).problems)


def test_a_pool_of_other_devices_holds_nobody_back() -> None:
    """A network driver that is about to publish anew does not matter for GPUs."""
    other = published(device("nic-0"), driver="nic.example.com", count=2)
    assert the_node(published(*gpus()), other).schedulable


def test_drivers_share_a_node() -> None:
    """Devices are numbered by driver; a pod of one class does not get those of the other."""
    spec = {"mode": "dra", "deviceClasses": [NVIDIA, "gpu.amd.com"]}
    amd = published(*gpus(2), driver="gpu.amd.com")
    classes = (device_class(), device_class("gpu.amd.com"))
    found = reading(config(devices=spec), bare(), *classes, amd, published(*gpus(2)))
    free = found.snapshot.fabric.nodes["n1"].allocatable.devices
    assert free is not None
    demand = DeviceDemand(device_class=NVIDIA)
    assert free.shared_out([(2, demand)]) == [(2, 3)]
    assert free.holds(2, demand) == 1


def test_devices_of_claims_are_held_by_number() -> None:
    """By a pod of ours that runs there, and else by the claim itself, whoever made it."""
    ours = holding(claim("ours", 2), "gpu-2", "gpu-3")
    theirs = holding(claim("theirs"), "gpu-5")
    nowhere = holding(claim("nowhere"), "gpu-5", node="n9")
    slices = published(*gpus())
    found = read(slices, ours, theirs, nowhere, claiming("p", "ours", nodeName="n1")).snapshot
    held = {pod.name: (pod.request.gpus, pod.devices, pod.ours) for pod in found.running}
    assert held == {"p": (2, (2, 3), True), "theirs (claim)": (1, (5,), False)}
    assert found.free["n1"].gpus == 5


def test_a_claim_outlasts_its_pod() -> None:
    """The pod has ended; its devices are free when its claim says so, not before."""
    ended = claiming("p", nodeName="n1")
    ended["status"] = {"phase": "Succeeded"}
    found = read(published(*gpus()), holding(claim(), "gpu-0"), ended).snapshot
    assert found.free["n1"].gpus == 7
