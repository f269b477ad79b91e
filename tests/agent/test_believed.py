"""What the agent publishes, as the scheduler reads it."""

from __future__ import annotations

from typing import Any

from fourleaf.agent.inventory import inventory
from fourleaf.agent.inventory_consistency import examined
from fourleaf.agent.last_known_devices import carried_over
from fourleaf.agent.node import NodeIdentity
from fourleaf.agent.readings import Reading
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.node import Node
from tests.agent.made import failure
from tests.agent.readers.nvml.fake import SWITCH, FakeGpu, FakeNvml
from tests.agent.readers.nvml.test_reader import FIRST, SECOND, read
from tests.model.readers.made import node, reading


def known(what: Reading, gpus: int) -> Node:
    """Node n1 with so many GPUs, as the scheduler knows it by what its agent has read."""
    made = inventory(NodeIdentity("n1"), examined(what), [], None, 0.0)
    status: dict[str, Any] = {"allocatable": {"nvidia.com/gpu": str(gpus), "pods": "110"}}
    body = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": "n1"},
        "status": made.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    return reading(node(status=status), body).snapshot.fabric.nodes["n1"]


def machine(**second: Any) -> Reading:
    """Two devices joined by switches; `second` is what is special about device 1."""
    links = [SWITCH] * 18
    one, two = FakeGpu("GPU-a", FIRST, links=links), FakeGpu("GPU-b", SECOND, links=links)
    for name, value in second.items():
        setattr(two, name, value)
    return read(FakeNvml(one, two))


def test_devices_and_links_arrive() -> None:
    """Two devices of 81,559 MiB, 450 GB/s between them, both to be given out."""
    devices = [Device(i, "NVIDIA H100 80GB HBM3", 81559) for i in range(2)]
    expected = FreeDevices(layout_of(devices, [(0, 1, 450_000)]), 0b11)
    assert known(machine(), 2).allocatable.devices == expected


def test_a_device_that_is_not_healthy_is_not_given_out() -> None:
    """The node goes on with the other one."""
    found = known(machine(mig=1), 2)
    assert found.schedulable
    assert found.allocatable.devices is not None
    assert found.allocatable.devices.mask == 0b01


def test_a_node_whose_driver_fails_takes_nobody() -> None:
    """Its devices are still known, but nothing of it is believed."""
    assert not known(carried_over(machine(), failure()), 2).schedulable
    assert not known(failure(), 2).schedulable
