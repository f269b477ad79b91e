"""What a reader sees of the devices of a node at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fourleaf.model.crds.discovered_topology import DiscoveredTopology
from fourleaf.model.crds.node_status import Gpu, Link, Process


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an inventory cannot be relied on: a reason as conditions have it, and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading. With a `fault`, what else it holds is as much as could be read.

    `source` is nvml, amdsmi or file. Links name the lower device first, each pair once, unless
    a person wrote them. Processes without a pod have an empty `pod_uid`. Where none is `expected`,
    no device is no fault. `topology` is where the node stands, None where nothing tells.
    """

    source: str
    driver_version: str = ""
    gpus: tuple[Gpu, ...] = ()
    links: tuple[Link, ...] = ()
    processes: tuple[Process, ...] = ()
    fault: Fault | None = None
    expected: bool = True
    topology: DiscoveredTopology | None = None


class DeviceReader(Protocol):
    """A source of readings."""

    def read(self) -> Reading:
        """Read the devices. Blocks while the driver works; never raises what the driver raises."""

    def close(self) -> None:
        """Give back what the driver lent."""
