"""What is decided when nodes have failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Breach


@dataclass(frozen=True, slots=True)
class Rescue:
    """Gangs that go on: by pod, the new nodes of their members that come or move.

    `moves` counts, by gang, its live members that go elsewhere; a gang that lost no members may be
    among them. `breaches` are what the validator finds in it.
    """

    changes: Mapping[GangKey, Mapping[str, str]] = field(default_factory=dict)
    moves: Mapping[GangKey, int] = field(default_factory=dict)
    breaches: tuple[Breach, ...] = ()
    proven: bool = True


class Rescuer(Protocol):
    """One way to keep gangs alive."""

    def rescue(self, snapshot: Snapshot) -> Rescue:
        """Who of `snapshot.standing` that lost members goes on, and where."""
