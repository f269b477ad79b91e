"""What the agent of a node found about where it stands: part of its `GpuNodeStatus`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fourleaf.model.crds.api import ApiPart

MOST_PORTS = 64
"""Ports of a node in its fabric."""
MOST_SWITCHES = 64
"""Switches that a node sees directly."""
MOST_GBPS = 100_000
"""Gbit/s of one port."""
MOST_NAME = 253
"""Characters of the name of a switch or a domain."""

InterfaceName = Annotated[str, Field(min_length=1, max_length=64)]


class FabricPort(ApiPart):
    """A port of an adapter in the fabric, as the kernel tells of it."""

    name: str = Field(min_length=1, max_length=64, description="Adapter and port, mlx5_0/1.")
    link_layer: Literal["", "InfiniBand", "Ethernet"] = ""
    state: str = Field(default="", max_length=32)
    gbps: int = Field(default=0, ge=0, le=MOST_GBPS, description="Gbit/s, 0 where unknown.")
    interfaces: list[InterfaceName] = Field(
        default_factory=list,
        max_length=8,
        description="Its network interfaces; a bond has several.",
    )
    subnet: str = Field(default="", max_length=32, description="The prefix of its GID.")
    lid: int = Field(default=0, ge=0, le=2**32)
    sm_lid: int = Field(default=0, ge=0, le=2**32, alias="smLID")


class SeenSwitch(ApiPart):
    """A switch that a network interface of the node sees at its other end, by LLDP."""

    interface: InterfaceName
    id: str = Field(min_length=1, max_length=128, description="Its chassis ID.")
    name: str = Field(default="", max_length=MOST_NAME)
    port: str = Field(default="", max_length=MOST_NAME, description="Its port.")


class FabricPlace(ApiPart):
    """The domains that one source names for the node, fine to coarse."""

    source: Literal["ibnetdiscover", "aks", "eks", "gke", "oci"]
    leaf: str = Field(min_length=1, max_length=MOST_NAME)
    spine: str = Field(default="", max_length=MOST_NAME)
    core: str = Field(default="", max_length=MOST_NAME)


class SourceFault(ApiPart):
    """A source that could not be used, or not as a whole, and why."""

    source: str = Field(min_length=1, max_length=32)
    message: str = Field(max_length=1024)


KernelModule = Literal["nvidia_peermem", "nvidia_fs"]
"""By which adapters reach the memory of GPUs (GPUDirect RDMA), and storage does (cuFile)."""


class DiscoveredTopology(ApiPart):
    """Ports, the switches that they see, and what the sources say of leaves."""

    ports: list[FabricPort] = Field(default_factory=list, max_length=MOST_PORTS)
    switches: list[SeenSwitch] = Field(default_factory=list, max_length=MOST_SWITCHES)
    places: list[FabricPlace] = Field(default_factory=list, max_length=8)
    modules: list[KernelModule] = Field(
        default_factory=list,
        max_length=8,
        description="Loaded modules by which adapters and storage reach GPUs.",
    )
    faults: list[SourceFault] = Field(default_factory=list, max_length=16)
