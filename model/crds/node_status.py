"""`GpuNodeStatus`: the devices of one node, as its agent sees them. Named like the node."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fourleaf.model.crds.api import ApiPart, Condition, Number
from fourleaf.model.crds.claim import MOST_DEVICES
from fourleaf.model.crds.discovered_topology import DiscoveredTopology

FORMAT = 1
"""The format of an inventory that this version writes and reads."""


class Gpu(ApiPart):
    """One device."""

    index: int = Field(ge=0, lt=MOST_DEVICES, description="Its number, as in CUDA_VISIBLE_DEVICES.")
    uuid: str = Field(min_length=1, max_length=128)
    product: str = Field(default="", max_length=253)
    memory_mib: int = Field(default=0, ge=0, le=2**40, alias="memoryMiB")
    pci_bus_id: str = Field(default="", max_length=64, alias="pciBusID")
    numa_node: int | None = Field(default=None, ge=0, le=65535)
    healthy: bool = True
    message: str = Field(default="", max_length=1024, description="Why it is not healthy.")
    fabric: NvlinkFabric | None = None


class NvlinkFabric(ApiPart):
    """The part of a multi-node NVLink fabric that a device belongs to."""

    cluster_uuid: str = Field(default="", max_length=128, alias="clusterUUID")
    clique_id: int = Field(default=0, ge=0, le=2**32, alias="cliqueID")
    state: str = Field(default="", max_length=64)


class Link(ApiPart):
    """What joins two devices of the node directly; `a` is below `b`."""

    a: int = Field(ge=0, lt=MOST_DEVICES)
    b: int = Field(ge=0, lt=MOST_DEVICES)
    kind: Literal["NVLink", "XGMI"] = "NVLink"
    bandwidth_gbps: Number = Field(
        alias="bandwidthGBps", description="In one direction, gigabytes per second."
    )


class Process(ApiPart):
    """A process that uses a device, and the pod that it belongs to, where that is known."""

    gpu: int = Field(ge=0, lt=MOST_DEVICES)
    pid: int = Field(ge=0, le=2**32)
    memory_mib: int = Field(default=0, ge=0, le=2**40, alias="memoryMiB")
    pod_uid: str = Field(default="", max_length=64, alias="podUID")


class NodeDevices(ApiPart):
    """The inventory. `nodeUID` and `bootID` say of which life of the node it speaks."""

    format: int = Field(default=FORMAT, ge=1, le=1_000_000)
    node_uid: str = Field(default="", max_length=64, alias="nodeUID")
    boot_id: str = Field(default="", max_length=64, alias="bootID")
    source: str = Field(default="", max_length=64, description="nvml, amdsmi or file.")
    driver_version: str = Field(default="", max_length=128)
    gpus: list[Gpu] = Field(default_factory=list, max_length=MOST_DEVICES)
    links: list[Link] = Field(default_factory=list, max_length=65536)
    processes: list[Process] = Field(default_factory=list, max_length=4096)
    topology: DiscoveredTopology | None = None
    conditions: list[Condition] = Field(default_factory=list, max_length=16)


class GpuNodeStatus(ApiPart):
    """The manifest of an inventory, metadata left out."""

    api_version: Literal["gpu.scheduling/v1"] = "gpu.scheduling/v1"
    kind: Literal["GpuNodeStatus"] = "GpuNodeStatus"
    status: NodeDevices | None = None
