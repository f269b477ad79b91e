"""What stands in pages and gang leases, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey


class Phase(StrEnum):
    """How far a commit is.

    `Prepared`: written down, counts for nothing. `Committed`: decided; from here it only goes
    forward. `RollingBack`: forward has become impossible.
    """

    PREPARED = "Prepared"
    COMMITTED = "Committed"
    ROLLING_BACK = "RollingBack"


@dataclass(frozen=True, slots=True)
class ClaimAllocation:
    """A ResourceClaim, at the version that was planned with, and the device of each request.

    Devices go by the names of their drivers, which outlast any numbering. A request for several
    stands there several times.
    """

    claim: Target
    devices: tuple[tuple[str, DeviceName], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A pod of a commit: which one, at which version, on which node, with which devices.

    `devices` are numbers of GPUs; those of `claims` go by name. `grant` is how much it was planned
    with, None in a record of a version that did not write that down.
    """

    pod: Target
    node: str
    devices: tuple[int, ...] = ()
    claims: tuple[ClaimAllocation, ...] = ()
    grant: Grant | None = None

    @property
    def claimed(self) -> list[DeviceName]:
        """The devices of all claims."""
        return [name for one in self.claims for _, name in one.devices]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one commit holds on one page.

    With `lease`, the entry counts for what the gang lease of that name says, and for
    nothing where there is none. Without, `phase` is the record itself.
    """

    commit: str
    gang: GangKey
    members: tuple[Member, ...]
    lease: str = ""
    phase: Phase = Phase.COMMITTED


@dataclass(frozen=True, slots=True)
class Page:
    """Who holds the GPUs of these nodes: part `part` of a leaf.

    `version` is the resource version of its Lease, "" before it exists. `epoch` is that
    of its last writer, `format` the one that it was written in.
    """

    leaf: str
    part: int
    nodes: tuple[str, ...]
    entries: tuple[Entry, ...] = ()
    epoch: int = 0
    version: str = ""
    format: int = 1

    def with_entries(self, entries: tuple[Entry, ...]) -> Page:
        """The same page with other entries."""
        return replace(self, entries=entries)


@dataclass(frozen=True, slots=True)
class GangLease:
    """The commit record of a gang that spans pages, with its whole plan."""

    name: str
    commit: str
    gang: GangKey
    phase: Phase
    members: tuple[Member, ...]
    pages: tuple[str, ...]
    epoch: int = 0
    version: str = ""
    format: int = 1
