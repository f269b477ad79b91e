"""Which sources a node has."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fourleaf.agent.discovery import ib_fabric, ibstat, lldp
from fourleaf.agent.discovery.clouds import eks
from fourleaf.agent.discovery.clouds.aks import AksSource
from fourleaf.agent.discovery.clouds.gke import GkeSource
from fourleaf.agent.discovery.clouds.metadata import LinkLocalMetadata, MetadataDoor
from fourleaf.agent.discovery.clouds.oci import OciSource
from fourleaf.agent.discovery.host_files import Decode, HostFile
from fourleaf.agent.discovery.sighting import TopologySource
from fourleaf.agent.discovery.sysfs import SYSFS, SysfsSource

FOLDER = Path("/run/fourleaf")
"""Where programs of the host write what they find."""


class Cloud(StrEnum):
    """Whose metadata is asked."""

    NONE = "none"
    AKS = "aks"
    EKS = "eks"
    GKE = "gke"
    OCI = "oci"


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """The node's name, where files of the host are, and whose metadata is asked."""

    node: str
    folder: Path = FOLDER
    sysfs: Path = SYSFS
    cloud: Cloud = Cloud.NONE


def sources_of(
    setting: DiscoverySettings,
    door: MetadataDoor | None = None,
    now: Callable[[], float] = time.time,
) -> tuple[TopologySource, ...]:
    """The sources of a node. `door` is the metadata of its cloud, `now` the wall's seconds."""
    door = door or LinkLocalMetadata()
    kernel = SysfsSource(setting.sysfs)
    in_dump = ib_fabric.place_in_dump(lambda: {*kernel.hosts(), setting.node} - {""})

    def file(name: str, path: str, most: int, decode: Decode) -> HostFile:
        return HostFile(name, setting.folder / path, most, decode, now)

    clouds: dict[Cloud, Callable[[], TopologySource]] = {
        Cloud.AKS: lambda: AksSource(door),
        Cloud.EKS: lambda: file(
            "eks", "instance-topology.json", eks.MOST_BYTES, eks.EksInstance(door).place
        ),
        Cloud.GKE: lambda: GkeSource(door),
        Cloud.OCI: lambda: OciSource(door),
    }
    return (
        kernel,
        file("ibstat", "ibstat.txt", ibstat.MOST_BYTES, ibstat.read_ibstat),
        file("lldp", "lldp.json", lldp.MOST_BYTES, lldp.read_lldp),
        file("ibnetdiscover", "ibnetdiscover.txt", ib_fabric.MOST_BYTES, in_dump),
        *([clouds[setting.cloud]()] if setting.cloud in clouds else ()),
    )
