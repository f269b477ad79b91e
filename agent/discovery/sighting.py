"""What one source sees of the fabric, and what a source is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fourleaf.model.crds.discovered_topology import (
    FabricPlace,
    FabricPort,
    KernelModule,
    SeenSwitch,
)
from fourleaf.model.problems import AdvisedError


class SourceError(AdvisedError):
    """A source whose answer cannot be used. The message names file or path, field and value."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a source sees.

    `doubts` are sentences about what is odd or was left out, each with the network interface that
    it is about, "" where it is about none.
    """

    ports: tuple[FabricPort, ...] = ()
    switches: tuple[SeenSwitch, ...] = ()
    place: FabricPlace | None = None
    doubts: tuple[tuple[str, str], ...] = ()
    modules: tuple[KernelModule, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was seen."""
        return not (self.ports or self.switches or self.place or self.modules)


class TopologySource(Protocol):
    """One source: the kernel, a file that a program of the host writes, or the cloud."""

    @property
    def name(self) -> str:
        """What faults call it, at most 32 characters."""

    def read(self) -> Sighting:
        """Look. Blocks, within bounds of its own; raises `SourceError`, or what Python raises."""
