"""A rule, two terms and a step of one's own: copy this file, change it, install it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fourleaf.plugins import Gang, GangBinding, Leaf, Node, Resources, Role

WINDOW = "example.com/maintenance"
TEMPERATURE = "example.com/inlet-celsius"
COOL, HOT = 18, 38


@dataclass(frozen=True)
class Maintenance:
    """Keeps gangs off nodes that are due for maintenance, but for the team that does it.

    A node is due where it carries the label `example.com/maintenance` with the name of a
    namespace; only gangs of that namespace may use it.
    """

    name: str = "maintenance"

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        """Whether the node is free of maintenance, or the gang is of the team that does it."""
        return node.labels.get(WINDOW, gang.key.namespace) == gang.key.namespace


@dataclass(frozen=True)
class Coolness:
    """Prefers cool nodes: 1000 * (38 - t) // 20 for an inlet temperature t of 18 to 38 degrees.

    The temperature is the node's label `example.com/inlet-celsius`; without it, 0.
    """

    name: str = "coolness"

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        """The term for a pod on the node, 0..1000."""
        label = node.labels.get(TEMPERATURE, "")
        if not label.isdecimal():
            return 0
        return max(0, min(1000, 1000 * (HOT - int(label)) // (HOT - COOL)))


@dataclass(frozen=True)
class SmallLeaves:
    """Prefers small leaves, to leave the large ones to large gangs: 1000 // nodes of the leaf."""

    name: str = "smallLeaves"

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        """The term for the pods of the gang in the leaf, 0..1000."""
        return 1000 // max(1, len(leaf.nodes))


@dataclass(frozen=True)
class Pause:
    """Lets no gang start while a file is there, whose text says why."""

    name: str = "pause"
    path: Path = Path("/run/fourleaf/pause")

    def before(self, binding: GangBinding) -> str | None:
        """What the file says, None where there is none."""
        return self.path.read_text() if self.path.exists() else None
