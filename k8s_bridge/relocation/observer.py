"""What is told of relocations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.model.gang import GangKey


@dataclass(frozen=True, slots=True)
class LostPod:
    """A pod of a gang that is to end on a dead node; `finalizers` keep it where no time is left."""

    gang: GangKey
    pod: Target
    node: str
    finalizers: tuple[str, ...] = ()


class RelocationObserver(Protocol):
    """Observes relocations."""

    def evicted(self, one: Relocation, leaver: Leaver) -> None:
        """A pod is being evicted."""

    def forbidden(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """A disruption budget, or the API, does not let a pod go for now."""

    def stranded(self, gang: GangKey, pod: Target, why: str) -> None:
        """A gang has lost members, `pod` among them, and cannot be repaired for now."""

    def unended(self, lost: LostPod, why: str) -> None:
        """A pod on a dead node is to end, and does not; `why` says what keeps it."""

    def unyielding(self, pod: Target, why: str) -> None:
        """Lower gangs may not give way to the gang of `pod`, which waits; `why` has advice."""

    def relocated(self, one: Relocation, why: str, seconds: float) -> None:
        """The relocation is over, after that long; `why` it ended early, "" where it served."""
